import type { Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { newMessage, newNudge, scope, user } from './builders.ts';
import {
  ALL,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectConserved,
  expectKind,
  fail,
  failure,
  laneOf,
  MAX_ATTEMPTS,
  MINUTE,
  nextTurn,
  replay,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

export function describeFailures(bench: () => Bench): void {
  describe('a failed try', () => {
    it('is repeated later with the same window', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const retry = expectKind(await fail(b, turn), 'retry');
      expect(retry.at).toBe(b.tools.now() + 10 * SECOND);
      expect(await claim(b, turn)).toEqual({ kind: 'not_due', dueAt: retry.at });
      expect(await batchOf(b, batch.id)).toMatchObject({
        state: 'consolidating',
        attempts: 1,
        failure: failure(b.tools.now()),
        consolidationId: turn.consolidationId,
      });
      const again = await nextTurn(b);
      expect(again).toEqual({ ...turn, epoch: 2, attempts: 1, resumed: true });
    });

    it('shows in its consolidation until the next try begins', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await fail(b, turn);
      const waiting = await b.ledger.thoughts.get(TENANT, turn.consolidationId);
      expect(waiting).toMatchObject({ state: 'waiting', attempts: 1, failure: failure(b.tools.now()) });
      await nextTurn(b);
      expect((await b.ledger.thoughts.get(TENANT, turn.consolidationId))?.state).toBe('thinking');
    });

    it('leaves no trace of failure on batches that make it in the end', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await fail(b, turn);
      await apply(b, await nextTurn(b));
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'empty', attempts: 1, failure: null });
      expect(await laneOf(b)).toMatchObject({ state: 'idle', attempts: 0 });
    });

    it('of a worker that lost its lane is not counted', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await claim(b, turn);
      expect(await fail(b, turn)).toEqual({ kind: 'fenced' });
      expect(await batchOf(b, batch.id)).toMatchObject({ attempts: 0, failure: null });
    });
  });

  describe('the failures of a batch', () => {
    it('are kept after a replay, the last ten of them, oldest first', async () => {
      const b = bench();
      const { batch } = await store(b);
      const codes = Array.from({ length: 12 }, (_, i) => `code_${i}`);
      for (const code of codes) {
        await fail(b, await nextTurn(b), { code, retryable: false });
        expect(await batchOf(b, batch.id)).toMatchObject({ state: 'parked', failure: { code } });
        await replay(b, [batch.id]);
      }
      const { failures, attempts, failure: last } = await batchOf(b, batch.id);
      expect(failures.map(({ code }) => code)).toEqual(codes.slice(2));
      expect(failures.at(-1)).toEqual(failure(b.tools.now(), 'code_11'));
      expect({ attempts, last }).toEqual({ attempts: 0, last: null });
    });

    it('are those of that batch alone, and a wait is none', async () => {
      const b = bench();
      const [first = ''] = await storeMany(b, 2);
      const turn = await nextTurn(b);
      await b.ledger.lanes.release(turn, b.tools.now(), failure(b.tools.now(), 'rate_limited'));
      expect(await batchOf(b, first)).toMatchObject({ failure: { code: 'rate_limited' }, failures: [] });
      await fail(b, await nextTurn(b), { retryable: false });
      await fail(b, await nextTurn(b), { retryable: false, code: 'context_too_long' });
      const all = (await b.ledger.batches.list(TENANT, {}, ALL)).results;
      expect(all.map(({ failures }) => failures.length).sort()).toEqual([1, 2]);
    });
  });

  describe('a single batch that cannot be consolidated', () => {
    it('is parked when its attempts are used up', async () => {
      const b = bench();
      const { batch } = await store(b);
      for (let i = 1; i < MAX_ATTEMPTS; i += 1) expectKind(await fail(b, await nextTurn(b)), 'retry');
      const last = await nextTurn(b);
      expect(await fail(b, last)).toEqual({ kind: 'parked', next: null });
      expect(await batchOf(b, batch.id)).toMatchObject({
        state: 'parked',
        attempts: MAX_ATTEMPTS,
        failure: failure(b.tools.now()),
        consolidationId: last.consolidationId,
      });
      expect((await b.ledger.thoughts.get(TENANT, last.consolidationId))?.state).toBe('parked');
      expect(await laneOf(b)).toMatchObject({ state: 'idle', dueAt: null });
    });

    it('is parked at once when trying again is no use', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      expect(await fail(b, turn, { retryable: false })).toEqual({ kind: 'parked', next: null });
    });

    it('does not hold up the batches behind it', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const { batch } = await store(b);
      const { next } = expectKind(await fail(b, turn, { retryable: false }), 'parked');
      expect(next).toMatchObject({ lane: turn.lane, generation: 2 });
      expect((await nextTurn(b)).batchIds).toEqual([batch.id]);
    });
  });

  describe('a window of several batches that cannot be consolidated', () => {
    it('is halved, and the first half is due at once', async () => {
      const b = bench();
      const ids = await storeMany(b, 5);
      const turn = await nextTurn(b);
      const { next } = expectKind(await fail(b, turn, { retryable: false }), 'split');
      expect(next).toEqual(newNudge(turn.lane, { generation: 2, dueAt: b.tools.now() }));
      expect((await b.ledger.thoughts.get(TENANT, turn.consolidationId))?.state).toBe('split');
      expect(await batchOf(b, ids[4] ?? '')).toMatchObject({ state: 'pending', stage: 'waiting', attempts: 1 });
      const half = await nextTurn(b);
      expect(half.batchIds).toEqual(ids.slice(0, 3));
      expect(half.consolidationId).not.toBe(turn.consolidationId);
      const rest = expectKind(await apply(b, half), 'applied').next;
      expect(rest?.dueAt).toBe(b.tools.now());
      expect((await nextTurn(b)).batchIds).toEqual(ids.slice(3));
    });

    it('is followed by a whole one, once the first half made it', async () => {
      const b = bench();
      await storeMany(b, 4);
      expectKind(await fail(b, await nextTurn(b), { retryable: false }), 'split');
      await apply(b, await nextTurn(b));
      await storeMany(b, 3);
      expect((await nextTurn(b)).batchIds.length).toBe(5);
    });

    it('gives a half whose attempts are used up one single try', async () => {
      const b = bench();
      await storeMany(b, 2);
      for (let i = 1; i < MAX_ATTEMPTS; i += 1) expectKind(await fail(b, await nextTurn(b)), 'retry');
      expectKind(await fail(b, await nextTurn(b)), 'split');
      const half = await nextTurn(b);
      expect(half.batchIds.length).toBe(1);
      expect((await fail(b, half)).kind).toBe('parked');
    });

    it.each([0, 3, 7])('parks batch %i, the only bad one of eight, and no other', async (bad) => {
      const b = bench();
      const ids = await storeMany(b, 8);
      await workOff(b, (turn) => !turn.batchIds.includes(ids[bad] ?? ''));
      const states = await Promise.all(ids.map(async (id) => (await batchOf(b, id)).state));
      expect(states).toEqual(ids.map((_, i) => (i === bad ? 'parked' : 'empty')));
    });

    it('parks all when all are bad', async () => {
      const b = bench();
      const ids = await storeMany(b, 5);
      await workOff(b, () => false);
      expect((await b.ledger.overview.batches(TENANT)).parked).toBe(ids.length);
      expect(await laneOf(b)).toMatchObject({ state: 'idle', pending: 0 });
    });
  });

  describe('parked batches', () => {
    it('are found by lane, user, code and time', async () => {
      const b = bench();
      const ann = await parkedBatch(b, 'ann', 'model_timeout');
      const bob = await parkedBatch(b, 'bob', 'model_rejected');
      const idsOf = async (filter: Parameters<typeof b.ledger.batches.list>[1], page = ALL) =>
        (await b.ledger.batches.list(TENANT, { ...filter, state: 'parked' }, page)).results.map((batch) => batch.id);
      expect(await idsOf({})).toEqual([bob, ann]);
      expect(await idsOf({}, { ...ALL, limit: 1 })).toEqual([bob]);
      expect(await idsOf({ lane: (await laneOf(b, user('bob'))).id })).toEqual([bob]);
      expect(await idsOf({ userId: 'bob' })).toEqual([bob]);
      expect(await idsOf({ errorCode: 'model_timeout' })).toEqual([ann]);
      expect(await idsOf({ since: b.tools.now() - MINUTE })).toEqual([bob]);
    });

    it('wait again when they are replayed, due now, with a clean slate', async () => {
      const b = bench();
      const id = await parkedBatch(b, 'ann');
      const lane = await laneOf(b);
      const { replayed, nudges } = await replay(b, [id]);
      expect(replayed).toEqual([id]);
      expect(nudges).toEqual([newNudge(lane.id, { generation: lane.generation + 1, dueAt: b.tools.now() })]);
      expect(await batchOf(b, id)).toMatchObject({ state: 'pending', stage: 'waiting', attempts: 0, failure: null });
      expect((await batchOf(b, id)).position).toBe(1);
      const turn = await nextTurn(b);
      expect(turn).toMatchObject({ batchIds: [id], attempts: 0 });
      await apply(b, turn);
      expect((await batchOf(b, id)).state).toBe('empty');
    });

    it('go before younger batches of their lane when they are replayed', async () => {
      const b = bench();
      const id = await parkedBatch(b, 'ann');
      const younger = await store(b);
      const { nudges } = await replay(b, [id]);
      expect(nudges.map((nudge) => nudge.dueAt)).toEqual([b.tools.now()]);
      expect((await nextTurn(b)).batchIds).toEqual([id, younger.batch.id]);
    });

    it('replayed while their lane is consolidating are due when it is done', async () => {
      const b = bench();
      const id = await parkedBatch(b, 'ann');
      const { turn } = await claimedBatch(b);
      expect(await replay(b, [id])).toEqual({ replayed: [id], nudges: [] });
      expect(expectKind(await apply(b, turn), 'applied').next?.dueAt).toBe(b.tools.now());
    });

    it('are the only ones a replay touches', async () => {
      const b = bench();
      const { batch } = await store(b);
      const answer = await replay(b, [batch.id, 'bat_none']);
      expect(answer).toEqual({ replayed: [], nudges: [] });
      const id = await parkedBatch(b, 'bob');
      await replay(b, [id]);
      expect((await replay(b, [id])).replayed).toEqual([]);
    });

    it('are parked still after the ledger was opened again', async () => {
      const b = bench();
      const id = await parkedBatch(b, 'ann', 'model_rejected');
      const later = await b.reopened();
      const { results } = await later.batches.list(TENANT, { state: 'parked' }, ALL);
      expect(results).toMatchObject([{ id, failure: { code: 'model_rejected' } }]);
    });
  });
}

async function storeMany(b: Bench, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push((await store(b, { messages: [newMessage(b.tools)] })).batch.id);
  return ids;
}

/** More than any window of these tests can take, split by split and try by try. */
const MANY_TURNS = 100;

/** Takes turns of ann's lane until it rests; `isGood` says which succeed. */
async function workOff(b: Bench, isGood: (turn: Turn) => boolean): Promise<void> {
  for (let turns = 0; (await laneOf(b)).state !== 'idle'; turns += 1) {
    expect(turns, 'turns of a lane that never rests').toBeLessThan(MANY_TURNS);
    const turn = await nextTurn(b);
    if (isGood(turn)) expectKind(await apply(b, turn), 'applied');
    else await fail(b, turn);
    await expectConserved(b.ledger, TENANT);
  }
}

async function parkedBatch(b: Bench, userId: string, code?: string): Promise<string> {
  b.tools.advance(10 * SECOND);
  const { batch } = await store(b, { scope: scope({ userId }) });
  const turn = await nextTurn(b, { owner: user(userId) });
  await fail(b, turn, { retryable: false, ...(code === undefined ? {} : { code }) });
  return batch.id;
}
