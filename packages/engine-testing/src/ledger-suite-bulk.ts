import type { BulkAnswered, BulkCounted, BulkJob, Millis, NewBulkQuestion, StoredAnswer, Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { scope, user } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  batchOf,
  claim,
  expectThere,
  failure,
  laneOf,
  MINUTE,
  nextTurn,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

const HOUR = 60 * MINUTE;
const CALL = { name: 'extract_facts', system: 'Find.', user: 'the words', schema: {} };
const LIMITS = { limit: 10, charsMax: 100_000 };

export function describeBulk(bench: () => Bench): void {
  describe('a question of backfill', () => {
    it('waits for a job, and its lane with it, with the reason on its batches', async () => {
      const b = bench();
      const { batch, turn } = await backfill(b);
      expect(await ask(b, turn)).toEqual({ kind: 'waits' });
      const lane = await laneOf(b);
      expect(lane.dueAt).toBe(b.tools.now() + 25 * HOUR);
      expect(await claim(b, { lane: lane.id, generation: lane.generation })).toMatchObject({ kind: 'not_due' });
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidating', attempts: 0, failure: { code: 'w' } });
    });

    it('is asked by itself where somebody lives in the lane', async () => {
      const b = bench();
      const { turn } = await backfill(b);
      await store(b, { priority: 'live' });
      expect(await ask(b, turn)).toEqual({ kind: 'ask' });
      const live = bench();
      await store(live, { scope: scope({ userId: 'bob' }), priority: 'live', flush: true });
      expect(await ask(live, await nextTurn(live, { owner: user('bob') }))).toEqual({ kind: 'ask' });
      expect(
        await b.ledger.bulk.gather({ id: 'blk_1', before: b.tools.now(), now: b.tools.now(), ...LIMITS }),
      ).toBeNull();
    });

    it('of a turn that lost its lane is nobody’s', async () => {
      const b = bench();
      const { turn } = await backfill(b);
      await nextTurn(b);
      expect(await ask(b, turn)).toEqual({ kind: 'fenced' });
    });

    it('waits once, also if its turn comes back too early, and no longer than it says', async () => {
      const b = bench();
      const { turn } = await backfill(b);
      await ask(b, turn);
      await job(b);
      b.tools.advance(HOUR);
      await b.ledger.lanes.clockSetBack(b.tools.now(), { all: true });
      expect(await ask(b, await nextTurn(b))).toEqual({ kind: 'waits' });
      expect(await b.ledger.bulk.open('blk_1')).toHaveLength(1);
      b.tools.advance(26 * HOUR);
      expect(await ask(b, await nextTurn(b))).toEqual({ kind: 'ask' });
    });
  });

  describe('a job', () => {
    it('takes the questions that wait once the oldest has waited long enough, as many as fit', async () => {
      const b = bench();
      for (const userId of ['a', 'b', 'c']) await ask(b, (await backfill(b, userId)).turn);
      const now = b.tools.now();
      const gather = (id: string, more: object) => b.ledger.bulk.gather({ id, before: now, now, ...LIMITS, ...more });
      expect(await gather('blk_1', { before: now - HOUR })).toBeNull();
      expect(await gather('blk_1', { limit: 2 })).toEqual({
        ...{ id: 'blk_1', state: 'created', remote: null, tries: 0, createdAt: now },
      });
      expect(await b.ledger.bulk.open('blk_1')).toHaveLength(2);
      await gather('blk_2', { charsMax: 1 });
      expect(await b.ledger.bulk.open('blk_2')).toMatchObject([
        { step: 'extract', inputHash: 'h', attempts: 0, call: CALL, counted: COUNTED },
      ]);
      expect(await gather('blk_3', {})).toBeNull();
    });

    it('is taken by one worker at a time, keeps what the provider calls it, and ends', async () => {
      const b = bench();
      await ask(b, (await backfill(b)).turn);
      await job(b);
      const now = b.tools.now();
      const taken = expectThere(await b.ledger.bulk.take(now, now + MINUTE));
      expect(await b.ledger.bulk.take(now, now + MINUTE)).toBeNull();
      expect(await move(b, taken, { state: 'submitted', remote: { file: 'f' } })).toBe(true);
      expect(await b.ledger.bulk.take(now, now)).toMatchObject({ state: 'submitted', remote: { file: 'f' } });
      expect(await move(b, taken, { state: 'cleaning' })).toBe(false);
      expect(await b.ledger.bulk.move({ id: 'blk_1', state: 'submitted' }, null)).toBe(true);
      expect(await b.ledger.bulk.take(now, now)).toBeNull();
    });
  });

  describe('what a provider answers', () => {
    it('is kept and counted once, and wakes the lane', async () => {
      const b = bench();
      const { turn } = await backfill(b);
      const id = await asked(b, turn);
      await job(b);
      const before = await laneOf(b);
      const nudge = expectThere(await b.ledger.bulk.answer(id, answered(b, turn, id), b.tools.now()));
      expect(nudge).toMatchObject({ lane: turn.lane, generation: before.generation + 1, dueAt: b.tools.now() });
      expect(await b.ledger.bulk.answer(id, answered(b, turn, id), b.tools.now())).toBeNull();
      expect(await b.ledger.bulk.open('blk_1')).toEqual([]);
      const again = await nextTurn(b);
      expect(await b.ledger.thoughts.answer(again.consolidationId, 'extract', 'h')).toMatchObject({ text: '{}' });
      expect(await b.ledger.overview.usage(TENANT)).toMatchObject({ calls: 1, promptTokens: 7 });
    });

    it('may be nothing: then the question is asked by itself', async () => {
      const b = bench();
      const { turn } = await backfill(b);
      const id = await asked(b, turn);
      expect(await b.ledger.bulk.answer(id, null, b.tools.now())).toMatchObject({ lane: turn.lane });
      expect(await ask(b, await nextTurn(b))).toEqual({ kind: 'ask' });
    });

    it('comes late where a live message has taken the window back: it is kept and counted, and changes nothing', async () => {
      const b = bench();
      const { turn } = await backfill(b);
      const id = await asked(b, turn);
      await job(b);
      expect(await b.ledger.bulk.takeBack(b.tools.now(), 10)).toEqual([]);
      await store(b, { priority: 'live' });
      expect(await b.ledger.bulk.takeBack(b.tools.now(), 10)).toMatchObject([{ lane: turn.lane, priority: 'live' }]);
      expect(await b.ledger.bulk.takeBack(b.tools.now(), 10)).toEqual([]);
      expect(await b.ledger.bulk.open('blk_1')).toEqual([]);
      expect(await b.ledger.bulk.asked('blk_1')).toMatchObject([{ id }]);
      const own = await nextTurn(b);
      expect(own.consolidationId).toBe(turn.consolidationId);
      expect(await ask(b, own)).toEqual({ kind: 'ask' });
      await b.ledger.thoughts.storeAnswer(own, answer(b), null);
      await apply(b, own);
      const lane = await laneOf(b);
      expect(await b.ledger.bulk.answer(id, answered(b, turn, id), b.tools.now())).toBeNull();
      expect(await laneOf(b)).toEqual(lane);
      const kept = await b.ledger.thoughts.answers(own.consolidationId);
      expect(kept.map(({ step }) => step)).toEqual(['extract', 'extract:late']);
      expect(await b.ledger.overview.usage(TENANT)).toMatchObject({ calls: 1, promptTokens: 7 });
    });
  });

  it('questions nobody can be given any more are asked by themselves, and what is over is dropped', async () => {
    const b = bench();
    const { turn } = await backfill(b);
    await ask(b, turn);
    const now = b.tools.now();
    expect(await b.ledger.bulk.drop(now + 1, 10)).toBe(0);
    expect(await b.ledger.bulk.abandon(now, 10)).toMatchObject([{ lane: turn.lane }]);
    expect(await b.ledger.bulk.abandon(now, 10)).toEqual([]);
    expect(await b.ledger.bulk.drop(now, 10)).toBe(0);
    expect(await b.ledger.bulk.drop(now + 1, 10)).toBe(1);
  });

  it('an owner who is erased cancels the job, and takes the question along', async () => {
    const b = bench();
    const { turn } = await backfill(b);
    const id = await asked(b, turn);
    await job(b);
    const now = b.tools.now();
    const taken = expectThere(await b.ledger.bulk.take(now, now + MINUTE));
    await b.ledger.erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'x', now });
    await b.ledger.bulk.cancel(turn.lane, now);
    // The worker that has the job notes what it is called there, for whoever deletes it.
    expect(await move(b, taken, { state: 'submitted', remote: { file: 'f' } })).toBe(false);
    while ((await b.ledger.erasures.slice('ers_1', 10)).more);
    expect(await b.ledger.bulk.answer(id, answered(b, turn, id), now)).toBeNull();
    expect(await b.ledger.bulk.erasing()).toBe(1);
    expect(await b.ledger.bulk.take(now, now)).toMatchObject({ state: 'cancelling', remote: { file: 'f' } });
    await b.ledger.bulk.move({ id: 'blk_1', state: 'cancelling' }, null);
    expect(await b.ledger.bulk.erasing()).toBe(0);
  });
}

/** A claimed window of backfill. */
async function backfill(b: Bench, userId = 'ann') {
  const { batch } = await store(b, { scope: scope({ userId }), priority: 'backfill', flush: true });
  return { batch, turn: await nextTurn(b, { owner: user(userId) }) };
}

const questionOf = (b: Bench): NewBulkQuestion => ({
  ...{ id: b.tools.id('ask'), step: 'extract', inputHash: 'h', call: CALL, counted: COUNTED, now: b.tools.now() },
  until: b.tools.now() + 25 * HOUR,
  why: failure(b.tools.now(), 'w'),
});

const ask = (b: Bench, turn: Turn) => b.ledger.bulk.ask(turn, questionOf(b));

/** The id of a question that waits. */
async function asked(b: Bench, turn: Turn): Promise<string> {
  const question = questionOf(b);
  expect(await b.ledger.bulk.ask(turn, question)).toEqual({ kind: 'waits' });
  return question.id;
}

const job = (b: Bench): Promise<BulkJob | null> =>
  b.ledger.bulk.gather({ id: 'blk_1', before: b.tools.now(), now: b.tools.now(), ...LIMITS });

function move(b: Bench, of: BulkJob, step: { state: BulkJob['state']; remote?: BulkJob['remote'] }): Promise<boolean> {
  const dueAt: Millis = b.tools.now() - SECOND;
  return b.ledger.bulk.move(of, { remote: null, tries: 0, dueAt, ...step });
}

const answer = (b: Bench): StoredAnswer => ({
  ...{ step: 'extract', inputHash: 'h', text: '{}', truncated: false, model: 'm', at: b.tools.now() },
  usage: USED,
});

const USED = { promptTokens: 7, completionTokens: 1 };

const COUNTED: BulkCounted = {
  ...{ tenant: TENANT, lane: null, consolidationId: null, appId: null, keyId: null },
  ...{ step: 'extract', cause: 'live', model: 'm', usage: USED, cost: null },
};

const answered = (b: Bench, { lane, consolidationId }: Turn, id: string): BulkAnswered => ({
  answer: answer(b),
  call: {
    ...{ ...COUNTED, lane, consolidationId, id, at: b.tools.now() },
    ...{ outcome: 'answered', noted: null, tookMs: 0 },
  },
});
