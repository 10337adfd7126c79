import { echoExtract, engineBench, fakeChat, keyedDecide, NEVER } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { sweepOutbox } from '../projection/project.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT, type Memory, type Rating } from '../words.ts';
import { liveVersion } from './evolve.ts';
import { inApp } from './in-app.ts';
import { ratingOf } from './ratings.ts';
import { rater, reviewer } from './review.ts';
import { memoryWriter } from './write.ts';

const ALL = { limit: 100, cursor: null };
const MINUTE = 60_000;

describe('a rating', () => {
  it('is an event of the history and moves the version in the index; the same again is none', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    expect(await b.rate(id, 'negative', { reason: 'that was Bob' })).toMatchObject({ kind: 'written' });
    expect(await b.inIndex(id)).toEqual([[1, -0.5]]);
    expect(await b.events(id)).toEqual(['ADD', 'FEEDBACK']);
    await b.rate(id, 'negative');
    await b.rate(id, 'negative', { reason: 'that was Bob' });
    expect(await b.events(id)).toEqual(['ADD', 'FEEDBACK']);
    await b.rate(id, 'negative', { reason: 'it was Bob in Oslo' });
    expect(await b.reasons(id)).toEqual(['that was Bob', 'it was Bob in Oslo']);
    await b.rate(id, 'positive');
    expect(await b.inIndex(id)).toEqual([[1, 0.5]]);
    await b.rate(id, null);
    await b.rate(id, null);
    expect(await b.inIndex(id)).toEqual([[1, undefined]]);
    expect(await b.events(id)).toEqual(['ADD', 'FEEDBACK', 'FEEDBACK', 'FEEDBACK', 'FEEDBACK']);
    expect(await b.of(id)).toMatchObject({ updatedAt: (await b.of(id)).createdAt });
  });

  it('that two send at the same time is one', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await Promise.all([b.rate(id, 'very_negative'), b.rate(id, 'very_negative'), b.rate(id, 'very_negative')]);
    expect(await b.events(id)).toEqual(['ADD', 'FEEDBACK']);
    expect(await b.waiting()).toHaveLength(1);
  });

  it('is of one version: other words begin unrated, other details do not, and a former one keeps its own', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'positive');
    await b.writer.change(DEFAULT_TENANT, id, { metadata: { seen: true } });
    expect(ratingOf(await b.of(id), 1)).toBe('positive');
    await b.told('lives: in Bergen');
    const [former, latest] = (await b.of(id)).versions;
    expect(await b.inIndex(id)).toEqual([
      [former?.number, 0.5],
      [latest?.number, undefined],
    ]);
    await b.rate(id, 'negative', { version: 1 });
    await b.rate(id, 'positive');
    expect(await b.inIndex(id)).toEqual([
      [former?.number, -0.5],
      [latest?.number, 0.5],
    ]);
    expect(await b.rate(id, 'positive', { version: 99 })).toEqual({ kind: 'no_version' });
  });

  it('is of a memory that holds, of its own tenant and user', async () => {
    const b = await bench();
    const [anns, bobs] = [await b.told('lives: in Oslo'), await b.told('lives: in Oslo', 'bob')];
    await b.rate(anns, 'very_negative');
    expect(await b.inIndex(bobs)).toEqual([[1, undefined]]);
    const feedback = { rating: 'negative', reason: null, appId: null } as const;
    expect(await b.rater.rate('other' as never, anns, feedback)).toEqual({ kind: 'not_found' });
    await b.writer.remove(DEFAULT_TENANT, anns);
    expect(await b.rate(anns, 'positive')).toEqual({ kind: 'not_found' });
    expect(await b.rate('mem_none', 'positive')).toEqual({ kind: 'not_found' });
  });

  it('is no reason to keep a consolidation from being undone, and stays where the memory does', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'positive');
    await b.told('lives: in Bergen');
    await b.rate(id, 'negative');
    const consolidations = (await b.history(id)).flatMap(({ consolidationId }) => consolidationId ?? []);
    const undo = undoer(b.deps);
    const how = { cascade: false, dryRun: false };
    const last = await undo.undo(DEFAULT_TENANT, consolidations[1] ?? '', how);
    expect(last).toMatchObject({ kind: 'done', report: { dependents: [] } });
    expect(await b.inIndex(id)).toEqual([[1, 0.5]]);
    const first = await undo.undo(DEFAULT_TENANT, consolidations[0] ?? '', how);
    if (first.kind !== 'done') throw new Error(`expected it to be undone, got ${first.kind}`);
    expect(liveVersion(await b.of(id))).toBeNull();
    await undo.redo(DEFAULT_TENANT, first.report.undo?.id ?? '', { dryRun: false });
    expect(await b.inIndex(id)).toEqual([[1, 0.5]]);
  });

  it('goes with a rollback to before it, and comes back with it', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'positive');
    b.engine.tools.advance(MINUTE);
    const to = b.engine.tools.now();
    b.engine.tools.advance(MINUTE);
    await b.rate(id, 'very_negative');
    const { owner } = await b.of(id);
    const undo = undoer(b.deps);
    const [review] = await b.waiting();
    const back = await undo.rollback(DEFAULT_TENANT, owner, { to, dryRun: false });
    if (back.kind !== 'done') throw new Error(`expected it to be rolled back, got ${back.kind}`);
    expect(await b.inIndex(id)).toEqual([[1, 0.5]]);
    expect(await b.waiting()).toEqual([]);
    const note = { state: 'stale', note: 'the rating was changed or removed' };
    expect(await b.deps.ledger.reviews.get(DEFAULT_TENANT, review?.id ?? '')).toMatchObject(note);
    await undo.redo(DEFAULT_TENANT, back.report.undo?.id ?? '', { dryRun: false });
    expect(await b.inIndex(id)).toEqual([[1, -1]]);
  });

  it('agrees with the doctor, in whatever order ratings and outcomes come', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'positive');
    await b.answered(id, 'good');
    await sweepOutbox(b.deps, NEVER);
    const { findings } = await examine(b.deps, { depth: 'full', cancel: NEVER });
    expect(findings).toEqual([]);
  });
});

describe('a very negative rating', () => {
  it('proposes to delete the memory, which an approval forgets from then on', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'very_negative', { reason: 'never say that' });
    await b.rate(id, 'very_negative');
    const [review, ...others] = await b.waiting();
    expect(others).toEqual([]);
    expect(review).toMatchObject({
      consolidationId: null,
      operation: { kind: 'DELETE', before: 'lives: in Oslo', after: null, reason: 'never say that', fact: null },
    });
    b.engine.tools.advance(MINUTE);
    await b.told('lives: in Oslo');
    const settled = await b.reviewer.approve(DEFAULT_TENANT, review?.id ?? '');
    expect(settled).toMatchObject({ kind: 'settled', searchable: true, review: { state: 'approved' } });
    expect(await b.inIndex(id)).toEqual([]);
    expect((await b.history(id)).at(-1)).toMatchObject({ kind: 'DELETE', actor: 'review', forgets: true });
  });

  it('changes nothing where it is rejected, and does not propose it again by itself', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'very_negative');
    const [review] = await b.waiting();
    await b.reviewer.reject(DEFAULT_TENANT, review?.id ?? '');
    await b.rate(id, 'very_negative');
    expect(await b.waiting()).toEqual([]);
    expect(await b.inIndex(id)).toEqual([[1, -1]]);
    await b.rate(id, null);
    await b.rate(id, 'very_negative');
    expect(await b.waiting()).toHaveLength(1);
  });

  it.each(['positive', 'negative', null] as const)('that becomes %s proposes nothing any more', async (rating) => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'very_negative');
    const [review] = await b.waiting();
    await b.rate(id, rating);
    expect(await b.waiting()).toEqual([]);
    const note = { state: 'stale', note: 'the rating was changed or removed' };
    expect(await b.deps.ledger.reviews.get(DEFAULT_TENANT, review?.id ?? '')).toMatchObject(note);
  });

  it('of what has changed since deletes nothing, and one of a former version proposes nothing', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.rate(id, 'very_negative');
    const [review] = await b.waiting();
    await b.told('lives: in Bergen');
    expect(await b.waiting()).toEqual([]);
    const stale = { state: 'stale', note: 'the memory has changed since it was rated' };
    expect(await b.deps.ledger.reviews.get(DEFAULT_TENANT, review?.id ?? '')).toMatchObject(stale);
    expect(await b.reviewer.approve(DEFAULT_TENANT, review?.id ?? '')).toEqual({ kind: 'over', state: 'stale' });
    expect(await b.engine.live()).toEqual(['lives: in Bergen']);
    await b.rate(id, null, { version: 1 });
    await b.rate(id, 'very_negative', { version: 1 });
    expect(await b.waiting()).toEqual([]);
  });

  it('also deletes what is immutable, and finds gone what somebody else has deleted', async () => {
    const b = await bench();
    const [kept, gone] = [await b.told('lives: in Oslo'), await b.told('drinks: green tea')];
    await b.writer.change(DEFAULT_TENANT, kept, { immutable: true });
    await b.rate(kept, 'very_negative');
    const [review] = await b.waiting();
    expect(await b.reviewer.approve(DEFAULT_TENANT, review?.id ?? '')).toMatchObject({ review: { state: 'approved' } });
    await b.rate(gone, 'very_negative');
    const [other] = await b.waiting();
    await b.writer.remove(DEFAULT_TENANT, gone);
    expect(await b.waiting()).toEqual([]);
    const stale = { state: 'stale', note: 'the memory it would delete no longer exists' };
    expect(await b.deps.ledger.reviews.get(DEFAULT_TENANT, other?.id ?? '')).toMatchObject(stale);
  });
});

describe('a rating by an app', () => {
  const rates = async (b: Awaited<ReturnType<typeof bench>>) => {
    for (const appId of ['A', 'B']) {
      await b.engine.post(['lives: in Oslo'], { scope: { appId } });
      await b.engine.run();
      b.engine.tools.advance(MINUTE);
    }
    const [memory] = await b.engine.memories('ann');
    const id = memory?.id ?? '';
    const seenBy = async (appId: string) => {
      const known = inApp(await b.of(id), appId);
      return known === null ? 'unknown' : ratingOf(known, known.versions[0]?.number ?? 0);
    };
    return {
      id,
      rate: (appId: string | null, rating: Rating | null, reason: string | null = null) =>
        b.rater.rate(DEFAULT_TENANT, id, { rating, appId, reason }),
      seen: async () => [await seenBy('A'), await seenBy('B')],
    };
  };

  it('counts for it where another app has said the same, and is taken back by it alone', async () => {
    const b = await bench();
    const { id, rate, seen } = await rates(b);
    await rate('A', 'positive');
    expect(await seen()).toEqual(['positive', null]);
    await rate('B', 'positive');
    expect(await seen()).toEqual(['positive', 'positive']);
    await rate('B', null);
    expect(await seen()).toEqual(['positive', null]);
    await rate('A', null);
    expect(await seen()).toEqual([null, null]);
    await rate('A', null);
    expect((await b.events(id)).filter((kind) => kind === 'FEEDBACK')).toHaveLength(4);
  });

  it('does not hide one under no app, which every app that was told the text knows', async () => {
    const b = await bench();
    const { id, rate, seen } = await rates(b);
    await rate(null, 'negative');
    expect(await seen()).toEqual(['negative', 'negative']);
    await rate('B', 'positive');
    expect(await seen()).toEqual(['negative', 'positive']);
    await rate(null, null);
    expect(await seen()).toEqual([null, null]);
    const inB = inApp(await b.of(id), 'B');
    expect(inB?.timeline.flatMap((mark) => (mark.kind === 'rated' ? [mark.version] : []))).toEqual(
      Array.from({ length: 3 }, () => inB?.versions[0]?.number),
    );
  });

  it('under no app stays unknown to an app that was told another text', async () => {
    const b = await bench();
    const { id, rate, seen } = await rates(b);
    await b.engine.post(['lives: in Bergen'], { scope: { appId: 'C' } });
    await b.engine.run();
    await rate(null, 'negative');
    expect(await seen()).toEqual([null, null]);
    const inC = inApp(await b.of(id), 'C');
    expect(inC === null ? null : ratingOf(inC, inC.versions[0]?.number ?? 0)).toBe('negative');
  });

  it('is not that of who knows all, who may say the same', async () => {
    const b = await bench();
    const { id, rate } = await rates(b);
    await rate('A', 'negative', 'in A');
    await rate(null, 'negative');
    await rate(null, 'negative');
    await rate('A', 'negative', 'in A');
    expect(await b.reasons(id)).toEqual(['in A', 'rated by API']);
  });

  it('has a reason of its own: the same one again says nothing, whatever was said since', async () => {
    const b = await bench();
    const { id, rate } = await rates(b);
    await rate('A', 'negative', 'not Oslo');
    await rate('B', 'negative', 'not Oslo');
    await b.writer.change(DEFAULT_TENANT, id, { metadata: { seen: true } });
    await rate('A', 'negative', 'not Oslo');
    await rate('B', 'negative', 'never Oslo');
    await rate('B', 'negative', 'never Oslo');
    expect(await b.reasons(id)).toEqual(['not Oslo', 'not Oslo', 'never Oslo']);
  });
});

describe('what answers led to', () => {
  it('counts in the same number once it is projected, and never outweighs a very negative rating', async () => {
    const b = await bench();
    const id = await b.told('lives: in Oslo');
    await b.answered(id, 'good');
    await sweepOutbox(b.deps, NEVER);
    expect(await b.inIndex(id)).toEqual([[1, 0.125]]);
    for (let i = 0; i < 30; i += 1) await b.answered(id, 'good');
    await b.rate(id, 'very_negative');
    const [[, feedback] = []] = await b.inIndex(id);
    expect(feedback).toBeLessThan(-0.5);
  });
});

const keyOf = (text: string): string => text.split(':')[0] ?? text;

/** Conversations in which whatever is said is remembered, by what stands before the colon. */
async function bench() {
  const engine = await engineBench({
    chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }),
  });
  const { deps } = engine;
  const { ledger } = deps;
  const of = async (id: string): Promise<Memory> => {
    const memory = await ledger.memories.get(DEFAULT_TENANT, id);
    if (memory === null) throw new Error(`there is no memory ${id}`);
    return memory;
  };
  const history = async (id: string) => (await ledger.memories.history(DEFAULT_TENANT, id, ALL)).results;
  const rating = rater(deps);
  return {
    ...{ engine, deps, of, history, rater: rating, reviewer: reviewer(deps), writer: memoryWriter(deps) },
    told: async (text: string, userId = 'ann'): Promise<string> => {
      await engine.post([text], { userId });
      await engine.run();
      engine.tools.advance(MINUTE);
      const found = (await engine.memories(userId)).find((memory) => liveVersion(memory)?.text === text);
      return found?.id ?? '';
    },
    rate: (id: string, value: Rating | null, more: { reason?: string; version?: number } = {}) =>
      rating.rate(DEFAULT_TENANT, id, { rating: value, appId: null, ...more, reason: more.reason ?? null }),
    events: async (id: string) => (await history(id)).map(({ kind }) => kind),
    reasons: async (id: string) =>
      (await history(id)).flatMap(({ kind, reason }) => (kind === 'FEEDBACK' ? reason : [])),
    waiting: async () => (await ledger.reviews.list(DEFAULT_TENANT, { state: 'pending' }, ALL)).results,
    /** An answer that told the memory alone, and what it led to. */
    answered: async (id: string, outcome: 'good' | 'bad') => {
      const { lane, scope: inScope } = await of(id);
      const receipt = { id: deps.tools.id('rcp', 0 as never), tenant: DEFAULT_TENANT, lane, at: deps.tools.now() };
      const told = [{ kind: 'memory' as const, id, version: 1 }];
      const how = {
        route: 'search',
        scope: inScope,
        ownApp: false,
        question: null,
        filters: null,
        asOf: null,
      } as const;
      await ledger.receipts.append([{ ...receipt, ...how, position: 0, told }]);
      await ledger.receipts.judge(DEFAULT_TENANT, receipt.id, { outcome, now: deps.tools.now() });
    },
    /** Its points: the version, and what is thought of it. */
    inIndex: async (id: string) => {
      const { points } = await deps.index.page(null, 1_000);
      const own = points.filter(({ memoryId, shelf }) => memoryId === id && shelf === 'memories');
      return own.map((point) => [point.version, point.feedback] as const).sort(([a], [b]) => a - b);
    },
  };
}
