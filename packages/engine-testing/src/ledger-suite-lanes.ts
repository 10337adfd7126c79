import type { LaneId, Nudge } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { newNudge, scope, user } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectKind,
  expectThere,
  fail,
  laneOf,
  MINUTE,
  nextTurn,
  POLICY,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

export function describeLanes(bench: () => Bench): void {
  describe('a flush', () => {
    it('makes waiting batches due now', async () => {
      const b = bench();
      await store(b);
      await store(b);
      b.tools.advance(SECOND);
      const { pending, nudge } = await b.ledger.lanes.flush(TENANT, ANN, b.tools.now());
      expect(pending).toBe(2);
      expect(nudge).toMatchObject({ generation: 2, dueAt: b.tools.now() });
      expect((await claim(b, expectThere(nudge))).kind).toBe('claimed');
    });

    it('needs no nudge where the lane is due already', async () => {
      const b = bench();
      await store(b, { flush: true });
      b.tools.advance(SECOND);
      expect(await b.ledger.lanes.flush(TENANT, ANN, b.tools.now())).toEqual({ pending: 1, nudge: null });
      expect((await laneOf(b)).generation).toBe(1);
    });

    it('finds nothing for an owner without waiting batches', async () => {
      const b = bench();
      expect(await b.ledger.lanes.flush(TENANT, user('nobody'), b.tools.now())).toEqual({ pending: 0, nudge: null });
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      expect(await b.ledger.lanes.flush(TENANT, ANN, b.tools.now())).toEqual({ pending: 0, nudge: null });
    });

    it('while consolidating makes the next generation due at once', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await store(b);
      expect(await b.ledger.lanes.flush(TENANT, ANN, b.tools.now())).toEqual({ pending: 1, nudge: null });
      const { next } = expectKind(await apply(b, turn), 'applied');
      expect(next).toEqual(newNudge(turn.lane, { generation: 2, dueAt: b.tools.now() }));
    });

    it('covers all waiting batches, also those that need a turn of their own', async () => {
      const b = bench();
      await store(b);
      await store(b, { scope: scope({ userId: 'ann', runId: 'r1' }) });
      await b.ledger.lanes.flush(TENANT, ANN, b.tools.now());
      const { next } = expectKind(await apply(b, await nextTurn(b)), 'applied');
      expect(next?.dueAt).toBe(b.tools.now());
    });
  });

  describe('due lanes', () => {
    it('are given oldest first, up to the limit', async () => {
      const b = bench();
      for (const userId of ['cid', 'ann', 'bob']) {
        await store(b, { scope: scope({ userId }) });
        b.tools.advance(SECOND);
      }
      const start = b.tools.now();
      const owners = async (now: number, limit: number) => {
        const due = await b.ledger.lanes.due(now, limit);
        return Promise.all(due.map(async ({ lane }) => (await b.ledger.lanes.get(lane))?.owner.id));
      };
      expect(await owners(start, 10)).toEqual([]);
      expect(await owners(start + MINUTE, 2)).toEqual(['cid', 'ann']);
      expect(await owners(start + MINUTE, 10)).toEqual(['cid', 'ann', 'bob']);
    });

    it('are given on from any of them, also where many are due since the same moment', async () => {
      const b = bench();
      for (const userId of ['a', 'b', 'c', 'd', 'e']) await store(b, { scope: scope({ userId }), flush: true });
      b.tools.advance(SECOND);
      await store(b, { scope: scope({ userId: 'f' }), flush: true });
      const all = await b.ledger.lanes.due(b.tools.now(), 10);
      const found: Nudge[] = [];
      for (let page = all.slice(0, 0); found.length === 0 || page.length === 2; found.push(...page)) {
        page = [...(await b.ledger.lanes.due(b.tools.now(), 2, found.at(-1)))];
      }
      expect(found).toEqual(all);
      expect(all).toHaveLength(6);
    });

    it('name the current generation and since when it is due', async () => {
      const b = bench();
      const { nudge } = await store(b);
      expect(await b.ledger.lanes.due(b.tools.now() + POLICY.idleMs, 10)).toEqual([nudge]);
      const { generation, dueAt } = await laneOf(b);
      expect({ generation, dueAt }).toMatchObject({ generation: nudge?.generation, dueAt: nudge?.dueAt });
    });

    it('include one whose worker has vanished, and leave out one that waits for its next try', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const dueLanes = async () => (await b.ledger.lanes.due(b.tools.now(), 10)).map((nudge) => nudge.lane);
      expect(await dueLanes()).toEqual([turn.lane]);
      const retry = expectKind(await fail(b, turn), 'retry');
      expect(await dueLanes()).toEqual([]);
      b.tools.set(retry.at);
      expect(await dueLanes()).toEqual([turn.lane]);
    });

    it('are none once everything is applied', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      expect(await b.ledger.lanes.due(b.tools.now() + MINUTE, 10)).toEqual([]);
      expect(await b.ledger.lanes.withWork(null, 10)).toEqual([]);
    });
  });

  describe('lanes with work', () => {
    it('are all that wait or consolidate, page by page', async () => {
      const b = bench();
      await claimedBatch(b);
      for (const userId of ['bob', 'cid', 'dan', 'eve']) await store(b, { scope: scope({ userId }) });
      const found: LaneId[] = [];
      for (let after: LaneId | null = null; ; after = found.at(-1) ?? null) {
        const page = await b.ledger.lanes.withWork(after, 2);
        found.push(...page.map((nudge) => nudge.lane));
        if (page.length < 2 || found.length > 5) break;
      }
      expect(found.length).toBe(5);
      expect(found).toEqual([...new Set(found)].sort());
    });
  });

  describe('raising a generation', () => {
    it('lets a waiting lane be claimed under the new one only', async () => {
      const b = bench();
      const nudge = expectThere((await store(b, { flush: true })).nudge);
      const raised = expectThere(await b.ledger.lanes.raise(nudge));
      expect(raised).toEqual({ ...nudge, generation: 2 });
      expect(await claim(b, nudge)).toEqual({ kind: 'stale' });
      expect((await claim(b, raised)).kind).toBe('claimed');
    });

    it('lets a consolidation that lost its worker be resumed', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const raised = expectThere(await b.ledger.lanes.raise(turn));
      const again = expectKind(await claim(b, raised), 'claimed').turn;
      expect(again).toEqual({ ...turn, generation: 2, epoch: 2, resumed: true });
    });

    it('does nothing when the lane has moved on or rests', async () => {
      const b = bench();
      const nudge = expectThere((await store(b, { flush: true })).nudge);
      expectThere(await b.ledger.lanes.raise(nudge));
      expect(await b.ledger.lanes.raise(nudge)).toBeNull();
      const turn = await nextTurn(b);
      await apply(b, turn);
      expect(await b.ledger.lanes.raise(turn)).toBeNull();
      expect((await laneOf(b)).generation).toBe(2);
    });
  });

  describe('a released turn', () => {
    it('is due at once and counts no attempt', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      b.tools.advance(SECOND);
      await b.ledger.lanes.release(turn, b.tools.now());
      expect(await laneOf(b)).toMatchObject({ state: 'consolidating', generation: 1, attempts: 0 });
      const again = expectKind(await claim(b, turn), 'claimed').turn;
      expect(again).toEqual({ ...turn, epoch: 2, resumed: true });
    });

    it('waits as long as it was asked to', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const dueAt = b.tools.now() + MINUTE;
      await b.ledger.lanes.release(turn, dueAt);
      expect(await claim(b, turn)).toEqual({ kind: 'not_due', dueAt });
      b.tools.set(dueAt);
      expect(expectKind(await claim(b, turn), 'claimed').turn).toMatchObject({ attempts: 0, epoch: 2 });
    });

    it('says on its batches what they wait for, until they are applied', async () => {
      const b = bench();
      const { turn, batch } = await claimedBatch(b);
      const why = { code: 'budget_exhausted', message: 'used up', at: b.tools.now() };
      await b.ledger.lanes.release(turn, b.tools.now(), why);
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidating', attempts: 0, failure: why });
      const again = expectKind(await claim(b, turn), 'claimed').turn;
      await b.ledger.lanes.release(again, b.tools.now());
      expect(await batchOf(b, batch.id)).toMatchObject({ failure: why });
      await apply(b, expectKind(await claim(b, turn), 'claimed').turn);
      expect(await batchOf(b, batch.id)).toMatchObject({ failure: null });
    });

    it('that was lost to a later claim changes nothing', async () => {
      const b = bench();
      const { turn, batch } = await claimedBatch(b);
      const later = expectKind(await claim(b, turn), 'claimed').turn;
      const retry = expectKind(await fail(b, later), 'retry');
      await b.ledger.lanes.release(turn, b.tools.now(), { code: 'late', message: 'too late', at: b.tools.now() });
      expect(await claim(b, turn)).toEqual({ kind: 'not_due', dueAt: retry.at });
      expect((await batchOf(b, batch.id)).failure?.code).not.toBe('late');
    });
  });

  describe('a lane', () => {
    it('is found by owner and by id', async () => {
      const b = bench();
      await store(b);
      const lane = await laneOf(b);
      expect(await b.ledger.lanes.get(lane.id)).toEqual(lane);
      expect(await b.ledger.lanes.find(TENANT, { kind: 'agent', id: 'ann' })).toBeNull();
      expect(await b.ledger.lanes.get('lane_none' as LaneId)).toBeNull();
    });
  });
}
