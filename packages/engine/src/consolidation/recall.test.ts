import { echoExtract, engineBench, fakeChat, fakeEmbedder, keyedDecide, NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { EngineError } from '../errors.ts';
import { memoryWriter } from '../memories/write.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexQuery, SearchIndex } from '../ports/search-index.ts';
import { project } from '../projection/project.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';

test('a memory that another process tells the index while it is being asked is known all the same', async () => {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const { deps } = bench;
  const away = async (): Promise<void> => {
    throw new Error('the index does not answer');
  };
  const handleAway = takeTurn({ ...deps, index: { ...deps.index, upsert: away } });
  await bench.post(['lives: in Oslo']);
  const [first] = await deps.ledger.lanes.withWork(null, 1);
  if (first !== undefined) await handleAway(first, NEVER);
  expect(await deps.ledger.outbox.pending(10)).toHaveLength(1);

  const search = async (queries: readonly IndexQuery[]): ReturnType<SearchIndex['search']> => {
    const answer = await deps.index.search(queries);
    await project(deps, { entries: await deps.ledger.outbox.pending(10), batches: [] }, NEVER);
    return answer;
  };
  const handle = takeTurn({ ...deps, index: { ...deps.index, search } });
  await bench.post(['lives: in Oslo']);
  const [second] = await deps.ledger.lanes.withWork(null, 1);
  if (second !== undefined) await handle(second, NEVER);
  expect(await bench.live()).toEqual(['lives: in Oslo']);
  expect((await bench.memories()).map((memory) => memory.confirmations)).toEqual([1]);
});

const keyed = { extract_facts: echoExtract, decide_operations: keyedDecide((text) => text.split(':')[0] ?? text) };

test('what a memory said before it was changed finds it no more, also while the index knows only that', async () => {
  const chat = fakeChat(keyed);
  const bench = await engineBench({ chat });
  const { deps } = bench;
  await bench.post(['home: a flat in Oslo']);
  await bench.run();
  const [memory] = await bench.memories();
  const away = async (): Promise<void> => {
    throw new Error('the index does not answer');
  };
  const writer = memoryWriter({ ...deps, index: { ...deps.index, upsert: away, withdraw: away } });
  await writer.change(DEFAULT_TENANT, memory?.id ?? '', { text: 'pet: one grey cat' });
  expect(await deps.ledger.outbox.pending(10)).toHaveLength(1);
  await bench.post(['home: a flat in Oslo again']);
  await bench.run();
  expect(chat.calls.filter(({ name }) => name === 'decide_operations')).toEqual([]);
  expect(await bench.live()).toEqual(['home: a flat in Oslo again', 'pet: one grey cat']);
});

test('what a memory says since it was changed finds it, before the index knows', async () => {
  const chat = fakeChat(keyed);
  const bench = await engineBench({ chat });
  const { deps } = bench;
  await bench.post(['home: a flat in Oslo']);
  await bench.run();
  const [memory] = await bench.memories();
  const away = async (): Promise<void> => {
    throw new Error('the index does not answer');
  };
  const writer = memoryWriter({ ...deps, index: { ...deps.index, upsert: away, withdraw: away } });
  await writer.change(DEFAULT_TENANT, memory?.id ?? '', { text: 'pet: one grey cat' });
  bench.tools.advance(60_000);
  await bench.post(['pet: one grey cat named Tom']);
  await bench.run();
  expect(await bench.live()).toEqual(['pet: one grey cat named Tom']);
});

test('what the index brings of another owner is neither decided on nor changed', async () => {
  const chat = fakeChat(keyed);
  const bench = await engineBench({ chat });
  const { deps } = bench;
  await bench.post(['home: a flat in Oslo'], { userId: 'bob' });
  await bench.run();
  const [bobs] = await bench.memories('bob');
  const owner = { kind: 'user', id: 'bob' } as const;
  const search: SearchIndex['search'] = (queries) =>
    deps.index.search(queries.map((query) => ({ ...query, owner, lane: bobs?.lane ?? query.lane })));
  await bench.post(['home: a flat in Bergen'], { userId: 'ann' });
  const [due] = await deps.ledger.lanes.withWork(null, 1);
  if (due !== undefined) await takeTurn({ ...deps, index: { ...deps.index, search } })(due, NEVER);
  expect(chat.calls.filter(({ name }) => name === 'decide_operations')).toEqual([]);
  expect(await bench.live('bob')).toEqual(['home: a flat in Oslo']);
  expect(await bench.live('ann')).toEqual(['home: a flat in Bergen']);
});

/** Ann said where she lived, and somebody deleted it an hour later. */
async function deleted() {
  const bench = await engineBench({ chat: fakeChat(keyed) });
  const said = bench.tools.now();
  await bench.post(['home: a flat in Oslo'], { at: said });
  await bench.run();
  const [memory] = await bench.memories();
  bench.tools.advance(3_600_000);
  await memoryWriter(bench.deps).remove(DEFAULT_TENANT, memory?.id ?? '');
  bench.tools.advance(3_600_000);
  return { bench, said };
}

test('a fact that was said before a deletion, and comes after it, belongs to what was deleted', async () => {
  const { bench, said } = await deleted();
  await bench.post(['home: a flat in Rome'], { at: said + 60_000 });
  await bench.run();
  expect(await bench.live()).toEqual([]);
  const [memory, ...others] = await bench.memories();
  expect(others).toEqual([]);
  expect(memory?.versions.map(({ text }) => text)).toEqual(['home: a flat in Oslo', 'home: a flat in Rome']);
});

test('a fact that was said after a deletion is new', async () => {
  const { bench } = await deleted();
  await bench.post(['home: a flat in Rome']);
  await bench.run();
  expect(await bench.live()).toEqual(['home: a flat in Rome']);
  expect(await bench.memories()).toHaveLength(2);
});

test('a memory with the rare words of a fact is shown, though many are nearer by their vectors', async () => {
  const near = Array.from({ length: 12 }, (_, i) => `shelf${i}: something in the blue box`);
  const others = Array.from({ length: 60 }, (_, i) => `day${i}: rain`);
  const sure = 'attic: the vintage accordion stands there';
  const fact = 'gone: the vintage accordion in the blue box';
  const embedder: Embedder = {
    fingerprint: 'by-hand',
    dimensions: 2,
    embed: async (texts) => ({
      vectors: texts.map((text) =>
        near.includes(text) || text === fact ? Float32Array.of(1, 0) : Float32Array.of(0.5, 0.8),
      ),
      usage: { promptTokens: 0, completionTokens: 0 },
    }),
  };
  const chat = fakeChat(keyed);
  const bench = await engineBench({
    chat,
    embedder,
    settings: { recallPerFact: 3, near: { vector: 2, keyword: 0, pair: 2, overlap: 2 } },
  });
  await bench.post([...near, ...others, sure]);
  await bench.run();
  const before = chat.calls.length;
  await bench.post([fact]);
  await bench.run();
  const decided = chat.calls.slice(before).find(({ name }) => name === 'decide_operations');
  expect(decided?.user).toContain(sure);
});

type Kept = 'storeAnswer' | 'storeVectors';

/** A turn of a new batch whose index is asked; its answer, or the vectors of its facts, are kept when the test says so. */
async function keepingLate(kept: Kept) {
  const embedder = fakeEmbedder(512);
  const embedded: string[] = [];
  const embed: Embedder['embed'] = (texts, cancel) => {
    embedded.push(...texts);
    return embedder.embed(texts, cancel);
  };
  const bench = await engineBench({ chat: fakeChat(keyed), embedder: { ...embedder, embed } });
  const { ledger, index } = bench.deps;
  const { thoughts } = ledger;
  const { apply } = ledger.memories;
  const keeping = Promise.withResolvers<void>();
  const order: string[] = [];
  const done = async <T>(what: string, work: Promise<T>): Promise<T> => {
    const result = await work;
    order.push(what);
    return result;
  };
  const late = async (...of: never[]): Promise<unknown> => {
    await keeping.promise;
    return done('kept', (thoughts[kept] as (...given: never[]) => Promise<unknown>)(...of));
  };
  const handle = takeTurn({
    ...bench.deps,
    ledger: {
      ...ledger,
      thoughts: { ...thoughts, [kept]: late },
      memories: { ...ledger.memories, apply: (...of) => done('applied', apply(...of)) },
    },
    index: { ...index, search: (queries) => done('index asked', index.search(queries)) },
  });
  const id = await bench.post(['lives: in Oslo']);
  const [nudge] = await ledger.lanes.withWork(null, 1);
  if (nudge === undefined) throw new Error('expected that the lane is due');
  const turn = handle(nudge, NEVER);
  await expect.poll(() => order).toEqual(['index asked']);
  return {
    ...{ bench, turn, keeping, order },
    batch: () => ledger.batches.get(DEFAULT_TENANT, id),
    takenOver: async () => {
      const { generation = 0 } = (await ledger.lanes.get(nudge.lane)) ?? {};
      const how = { now: bench.tools.now(), window: bench.deps.settings.window, newConsolidationId: 'con_again' };
      return ledger.lanes.claim({ lane: nudge.lane, generation }, how);
    },
    timesEmbedded: () => embedded.filter((text) => text === 'lives: in Oslo').length,
  };
}

const KEPT: readonly Kept[] = ['storeAnswer', 'storeVectors'];

test.each(KEPT)(
  'the index is asked while %s is under way, and nothing is applied before that is over',
  async (kept) => {
    const { bench, turn, keeping, order, batch, timesEmbedded } = await keepingLate(kept);
    keeping.resolve();
    await turn;
    expect(order).toEqual(['index asked', 'kept', 'applied']);
    expect(await batch()).toMatchObject({ state: 'consolidated' });
    expect(await bench.live()).toEqual(['lives: in Oslo']);
    expect(timesEmbedded()).toBe(1);
  },
);

test.each(KEPT)('a batch whose %s failed is tried again', async (kept) => {
  const { bench, turn, keeping, order, batch } = await keepingLate(kept);
  keeping.reject(new EngineError('the ledger is away', { code: 'ledger_unavailable', retryable: true }));
  await turn.catch(() => {});
  expect(order).toEqual(['index asked']);
  await bench.run();
  expect(await batch()).toMatchObject({ state: 'consolidated' });
  expect(await bench.live()).toEqual(['lives: in Oslo']);
});

test('a turn that has lost its lane by the time its answer is kept applies nothing', async () => {
  const { bench, turn, keeping, order, batch, takenOver } = await keepingLate('storeAnswer');
  expect(await takenOver()).toMatchObject({ kind: 'claimed' });
  keeping.resolve();
  expect(await turn).toMatchObject({ kind: 'done' });
  expect(order).toEqual(['index asked', 'kept']);
  expect(await batch()).toMatchObject({ state: 'consolidating' });
  expect(await bench.live()).toEqual([]);
});
