import { echoExtract, engineBench, fakeChat, keyedDecide, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { ReviewedKind } from '../plan.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { reviewer } from './review.ts';
import { memoryWriter } from './write.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const MINUTE = 60_000;
const ALL = { limit: 100, cursor: null };

describe('an operation that waits for a person', () => {
  it('changes nothing until it is approved, then is as if it had been done at once', async () => {
    const b = await reviewBench(['UPDATE']);
    await b.said('lives: in Oslo');
    const batch = await b.said('lives: in Bergen');
    expect(await b.engine.deps.ledger.batches.get(DEFAULT_TENANT, batch)).toMatchObject({ state: 'consolidated' });
    expect(await b.engine.live()).toEqual(['lives: in Oslo']);
    const [review] = await b.waiting();
    expect(review?.operation).toMatchObject({ kind: 'UPDATE', before: 'lives: in Oslo', after: 'lives: in Bergen' });

    b.engine.tools.advance(MINUTE);
    const result = await b.approve(review?.id);
    expect(result).toMatchObject({ kind: 'settled', searchable: true, review: { state: 'approved' } });
    expect(await b.engine.live()).toEqual(['lives: in Bergen']);
    const [memory] = await b.engine.memories();
    expect(memory?.versions.map((version) => version.saidAt)).toEqual([expect.anything(), review?.operation.saidAt]);
    const history = await b.engine.deps.ledger.memories.history(DEFAULT_TENANT, memory?.id ?? '', ALL);
    const consolidationId = review?.consolidationId;
    expect(history.results[1]).toMatchObject({ kind: 'UPDATE', actor: 'review', consolidationId, factId: 'f0' });
  });

  it('becomes a former version where something said later was written in the meantime', async () => {
    const b = await reviewBench(['UPDATE']);
    await b.said('lives: in Oslo');
    await b.said('lives: in Bergen');
    const [review] = await b.waiting();
    b.engine.tools.advance(MINUTE);
    await b.writer.change(DEFAULT_TENANT, review?.operation.memoryId ?? '', { text: 'lives: in Rome' });
    await b.approve(review?.id);
    expect(await b.engine.live()).toEqual(['lives: in Rome']);
    const [memory] = await b.engine.memories();
    expect(memory?.versions.map((version) => version.text).sort()).toEqual([
      'lives: in Bergen',
      'lives: in Oslo',
      'lives: in Rome',
    ]);
  });

  it('makes one memory of all that waits for it, in whatever order it is approved', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('lives: in Oslo', 'lives: in Bergen');
    expect(await b.engine.memories()).toEqual([]);
    const reviews = await b.waiting();
    expect(reviews).toHaveLength(2);
    for (const { id } of reviews) await b.approve(id);
    const memories = await b.engine.memories();
    expect(memories).toHaveLength(1);
    expect(await b.engine.live()).toEqual(['lives: in Bergen']);
  });

  it.each([
    ['one after the other', (ids: string[]) => ids],
    ['the later one first', (ids: string[]) => ids.toReversed()],
  ])('makes one memory of what another batch says again while it waits, approved %s', async (_name, inOrder) => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat');
    await b.said('Pet: a cat.');
    const reviews = await b.waiting();
    expect(reviews).toHaveLength(2);
    for (const id of inOrder(reviews.map((review) => review.id).toReversed())) await b.approve(id);
    expect(await b.engine.live()).toHaveLength(1);
    expect(await b.engine.memories()).toMatchObject([{ confirmations: 1, revision: 2 }]);
    await b.said('pet: a cat');
    expect(await b.waiting()).toEqual([]);
    expect(await b.engine.memories()).toMatchObject([{ confirmations: 2 }]);
  });

  it('is not what is said again after it was rejected', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat');
    const [refused] = await b.waiting();
    await b.reviews.reject(DEFAULT_TENANT, refused?.id ?? '');
    await b.said('pet: a cat');
    const [again] = await b.waiting();
    expect(again?.operation.memoryId).not.toBe(refused?.operation.memoryId);
  });

  it('changes nothing where its memory says so by then', async () => {
    const b = await reviewBench(['UPDATE']);
    await b.said('lives: in Oslo');
    await b.said('lives: in Bergen');
    await b.said('lives: in Bergen');
    for (const { id } of (await b.waiting()).toReversed()) await b.approve(id);
    const [memory] = await b.engine.memories();
    expect(memory).toMatchObject({ confirmations: 1 });
    expect(memory?.versions.map(({ text }) => text)).toEqual(['lives: in Oslo', 'lives: in Bergen']);
  });

  it('is confirmed by what only repeats it, with its sources, once it is approved', async () => {
    const b = await reviewBench(['ADD', 'UPDATE']);
    for (const said of [
      ['pet: a cat', 'Pet: a cat.', 'pet: a  cat'],
      ['pet: a dog', 'pet: a dog!'],
    ]) {
      await b.said(...said);
      expect(await b.waiting()).toHaveLength(1);
      await b.approve((await b.waiting())[0]?.id);
    }
    const [memory] = await b.engine.memories();
    expect(memory).toMatchObject({ confirmations: 3, revision: 5 });
    expect(memory?.versions.map(({ text, details }) => [text, details.sourceIds.length])).toEqual([
      ['pet: a cat', 3],
      ['pet: a dog', 2],
    ]);
    const { results } = await b.engine.deps.ledger.memories.history(DEFAULT_TENANT, memory?.id ?? '', ALL);
    expect(results.map(({ kind, actor, factId }) => [kind, actor, factId])).toEqual([
      ['ADD', 'review', 'f0'],
      ['NONE', 'review', 'f1'],
      ['NONE', 'review', 'f2'],
      ['UPDATE', 'review', 'f0'],
      ['NONE', 'review', 'f1'],
    ]);
  });

  it('takes with it what repeats it where it is rejected, or undone after it was approved', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat', 'Pet: a cat.');
    await b.reviews.reject(DEFAULT_TENANT, (await b.waiting())[0]?.id ?? '');
    expect(await b.engine.memories()).toEqual([]);
    await b.said('pet: a dog', 'pet: a dog!');
    const [review] = await b.waiting();
    await b.approve(review?.id);
    await undoer(b.engine.deps).undo(DEFAULT_TENANT, review?.consolidationId ?? '', { cascade: false, dryRun: false });
    expect(await b.engine.live()).toEqual([]);
    expect((await b.engine.memories())[0]?.confirmations).toBe(0);
  });

  it('is found by a search once it is approved', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat');
    expect(await b.engine.deps.index.count(DEFAULT_TENANT)).toBe(0);
    await b.approve((await b.waiting())[0]?.id);
    expect(await b.engine.deps.index.count(DEFAULT_TENANT)).toBe(1);
  });

  it('leaves a tombstone when it was a deletion', async () => {
    const b = await reviewBench(['DELETE'], forgetting);
    await b.said('smokes: a lot');
    const at = b.engine.tools.now() - MINUTE;
    await b.said('forget: smokes');
    expect(await b.engine.live()).toEqual(['smokes: a lot']);
    await b.approve((await b.waiting())[0]?.id);
    expect(await b.engine.live()).toEqual([]);
    await b.engine.post(['smokes: a lot'], { at });
    await b.engine.run();
    expect(await b.engine.live()).toEqual([]);
  });

  it('ends what held when it was said where it was a deletion, and says so, not what was written since', async () => {
    const b = await reviewBench(['DELETE'], forgetting);
    await b.said('smokes: a lot');
    await b.said('forget: smokes');
    const [review] = await b.waiting();
    const id = review?.operation.memoryId ?? '';
    b.engine.tools.advance(MINUTE);
    await b.writer.change(DEFAULT_TENANT, id, { text: 'smokes: a pipe' });
    await b.approve(review?.id);
    expect(await b.engine.live()).toEqual(['smokes: a pipe']);
    const { results } = await b.engine.deps.ledger.memories.history(DEFAULT_TENANT, id, ALL);
    expect(results.at(-1)).toMatchObject({ kind: 'DELETE', previous: 'smokes: a lot' });
  });

  it('goes when it is rejected, and nothing was changed', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat');
    const [review] = await b.waiting();
    expect(await b.reviews.reject(DEFAULT_TENANT, review?.id ?? '')).toMatchObject({ review: { state: 'rejected' } });
    expect(await b.waiting()).toEqual([]);
    expect(await b.approve(review?.id)).toEqual({ kind: 'over', state: 'rejected' });
    expect(await b.engine.memories()).toEqual([]);
  });

  it('is carried out once, however often and by however many it is approved', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat');
    const [review] = await b.waiting();
    const results = await Promise.all([b.approve(review?.id), b.approve(review?.id)]);
    expect(results.map((result) => result.kind).sort()).toEqual(['over', 'settled']);
    expect(await b.approve(review?.id)).toEqual({ kind: 'over', state: 'approved' });
    expect((await b.engine.memories()).map((memory) => memory.revision)).toEqual([1]);
  });

  it.each([
    ['deleted', 'was deleted', async (b: Bench, id: string) => void (await b.writer.remove(DEFAULT_TENANT, id))],
    [
      'made immutable',
      'immutable',
      async (b: Bench, id: string) => void (await b.writer.change(DEFAULT_TENANT, id, { immutable: true })),
    ],
    [
      'undone',
      'no longer exists',
      async (b: Bench, id: string) => {
        const events = await b.engine.deps.ledger.undos.events(DEFAULT_TENANT, [id]);
        const how = { cascade: false, dryRun: false };
        await undoer(b.engine.deps).undo(DEFAULT_TENANT, events[0]?.consolidationId ?? '', how);
      },
    ],
  ])('is stale when its memory was %s in the meantime, and says why', async (_what, note, meddle) => {
    const b = await reviewBench(['UPDATE']);
    await b.said('lives: in Oslo');
    await b.said('lives: in Bergen');
    const [review] = await b.waiting();
    b.engine.tools.advance(MINUTE);
    await meddle(b, review?.operation.memoryId ?? '');
    const before = JSON.stringify(await b.engine.memories());
    const result = await b.approve(review?.id);
    expect(result).toMatchObject({ review: { state: 'stale', note: expect.stringContaining(note) } });
    expect(JSON.stringify(await b.engine.memories())).toBe(before);
    expect(await b.approve(review?.id)).toEqual({ kind: 'over', state: 'stale' });
  });

  it('never brings back what was deleted after it was said', async () => {
    const b = await reviewBench(['ADD']);
    await b.said('pet: a cat');
    b.engine.tools.advance(MINUTE);
    const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
    const plain = { metadata: {}, category: null, immutable: false, validFrom: null, expiresAt: null };
    const written = await b.writer.add(DEFAULT_TENANT, { scope, text: 'pet: a cat', ...plain });
    b.engine.tools.advance(MINUTE);
    if (written.kind === 'written') await b.writer.remove(DEFAULT_TENANT, written.memory.id);
    const result = await b.approve((await b.waiting())[0]?.id);
    expect(result).toMatchObject({
      review: { state: 'stale', note: 'the same memory was deleted after this was said' },
    });
    expect(await b.engine.live()).toEqual([]);
  });

  it('waits for the addition of what it would delete', async () => {
    const b = await reviewBench(['ADD', 'DELETE'], forgetting);
    await b.said('smokes: a lot', 'forget: smokes');
    const reviews = await b.waiting();
    const [deletion] = reviews.filter((review) => review.operation.kind === 'DELETE');
    const [addition] = reviews.filter((review) => review.operation.kind === 'ADD');
    expect(await b.approve(deletion?.id)).toEqual({ kind: 'early', first: addition?.id });
    await b.approve(addition?.id);
    expect(await b.engine.live()).toEqual(['smokes: a lot']);
    expect(await b.approve(deletion?.id)).toMatchObject({ review: { state: 'approved' } });
    expect(await b.engine.live()).toEqual([]);
  });

  it('that nobody knows is not found', async () => {
    const b = await reviewBench(['ADD']);
    expect(await b.approve('rev_unknown')).toEqual({ kind: 'not_found' });
  });
});

/** "forget: smokes" deletes what is about "smokes". */
const forgetting: Script = (input, nth) => {
  const facts = input.facts as { id: string; text: string }[];
  const shown = [...(input.memories as { id: string; text: string }[]), ...facts];
  const { operations } = keyedDecide(keyOf)(input, nth) as { operations: { fact: string }[] };
  return {
    operations: operations.map((operation) => {
      const text = facts.find((fact) => fact.id === operation.fact)?.text ?? '';
      const wanted = text.startsWith('forget: ') ? text.slice('forget: '.length) : null;
      const id = wanted === null ? undefined : shown.find((other) => keyOf(other.text) === wanted)?.id;
      return id === undefined ? operation : { ...operation, event: 'DELETE', id, text: null, keep: false };
    }),
  };
};

type Bench = Awaited<ReturnType<typeof reviewBench>>;

async function reviewBench(review: readonly ReviewedKind[], decide: Script = keyedDecide(keyOf)) {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: decide });
  // Everything is near everything: only the script decides what belongs together.
  const engine = await engineBench({ chat, settings: { near: { vector: -1, keyword: 0, pair: -1, overlap: 0 } } });
  const { ledger } = engine.deps;
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, review });
  const reviews = reviewer(engine.deps);
  return {
    engine,
    reviews,
    writer: memoryWriter(engine.deps),
    approve: (id = '') => reviews.approve(DEFAULT_TENANT, id),
    said: async (...texts: readonly string[]) => {
      engine.tools.advance(MINUTE);
      const id = await engine.post(texts);
      await engine.run();
      return id;
    },
    waiting: async () => (await ledger.reviews.list(DEFAULT_TENANT, { state: 'pending' }, ALL)).results,
  };
}
