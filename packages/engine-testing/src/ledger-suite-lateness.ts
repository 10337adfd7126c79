import type { TenantId } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { scope } from './builders.ts';
import { heldStudy, toStudy } from './graph-bench.ts';
import { type Bench, claimedBatch, laneOf, MINUTE, POLICY, SECOND, store, TENANT } from './ledger-bench.ts';
import { claim as claimDeliveries, create as createWebhook, failed, note, oneMemory } from './ledger-bench-webhooks.ts';
import { started as startedCanary } from './ledger-suite-canaries.ts';

/** What is late, and what becomes of times that a wrong clock named. */
export function describeLateness(bench: () => Bench): void {
  describe('tenants that are late', () => {
    const few = 'few' as TenantId;
    const behind = 'behind' as TenantId;

    it('are those of which enough lanes with live work have been due, whatever backfill waits before them', async () => {
      const b = bench();
      for (let i = 0; i < 20; i += 1) {
        await store(b, { tenant: behind, scope: scope({ userId: `old ${i}` }), priority: 'backfill', flush: true });
      }
      b.tools.advance(SECOND);
      for (const userId of ['ann', 'bob', 'cid']) await store(b, { scope: scope({ userId }), flush: true });
      await store(b, { tenant: few, flush: true });
      await store(b, { tenant: few, scope: scope({ userId: 'bob' }) });
      const late = b.tools.now() + 1;
      expect(await b.ledger.lanes.lateTenants(late, 3)).toEqual([TENANT]);
      expect(await b.ledger.lanes.lateTenants(late, 1)).toEqual([TENANT, few].sort());
      expect(await b.ledger.lanes.lateTenants(b.tools.now(), 1)).toEqual([]);
    });

    it('are so by live turns under way too', async () => {
      const b = bench();
      await claimedBatch(b);
      await store(b, { priority: 'backfill' });
      expect(await b.ledger.lanes.lateTenants(b.tools.now() + 1, 1)).toEqual([TENANT]);
    });
  });

  describe('after a clock that was ahead by a day is right again', () => {
    const DAY = 24 * 60 * MINUTE;

    it('a lane that took messages meanwhile is due now, and no other', async () => {
      const b = bench();
      const right = b.tools.now();
      await store(b, { scope: scope({ userId: 'bob' }) });
      b.tools.advance(DAY);
      await store(b);
      b.tools.set(right + SECOND);
      expect(await b.ledger.lanes.due(b.tools.now(), 10)).toEqual([]);
      expect(await b.ledger.lanes.clockSetBack(b.tools.now(), { all: false })).toBe(1);
      expect(await b.ledger.lanes.due(b.tools.now(), 10)).toMatchObject([{ lane: (await laneOf(b)).id }]);
      expect(await b.ledger.lanes.clockSetBack(b.tools.now(), { all: false })).toBe(0);
    });

    it('a lane that takes another message is due when it has been idle', async () => {
      const b = bench();
      const right = b.tools.now();
      b.tools.advance(DAY);
      await store(b);
      b.tools.set(right + SECOND);
      expect((await store(b)).nudge).toMatchObject({ dueAt: b.tools.now() + POLICY.idleMs });
    });

    it('what waits for its next try is due now, where all is', async () => {
      const b = bench();
      const turn = await claimedBatch(b);
      await b.ledger.lanes.release(turn.turn, b.tools.now() + DAY);
      expect(await b.ledger.lanes.clockSetBack(b.tools.now(), { all: false })).toBe(0);
      expect(await b.ledger.lanes.clockSetBack(b.tools.now(), { all: true })).toBe(1);
      expect(await b.ledger.lanes.due(b.tools.now(), 10)).toHaveLength(1);
    });

    it('it is known until when it was ahead, until what waits for it is hastened', async () => {
      const { ledger, tools } = bench();
      const right = tools.now();
      expect(await ledger.lanes.clockShown()).toBeNull();
      expect(await ledger.lanes.clockSeen(right)).toBe(right);
      expect(await ledger.lanes.clockSeen(right + DAY)).toBe(right + DAY);
      expect(await ledger.lanes.clockShown()).toBe(right + DAY);
      expect(await ledger.lanes.clockSeen(right + SECOND)).toBe(right + DAY);
      await ledger.lanes.clockSetBack(right + SECOND, { all: true });
      expect(await ledger.lanes.clockSeen(right + MINUTE)).toBe(right + MINUTE);
    });

    it('so are studies, and lanes which are to be projected once more', async () => {
      const b = bench();
      const { lane } = await toStudy(b);
      const [now, later] = [b.tools.now(), b.tools.now() + DAY];
      await b.ledger.graph.release(await heldStudy(b, lane), later);
      const failure = { code: 'model_timeout', message: 'too slow', at: now };
      await b.ledger.outbox.setAside([{ lane, failures: 1, notBefore: later, failure }]);
      await b.ledger.lanes.clockSetBack(now, { all: false });
      expect([await b.ledger.graph.due(now, 10), await b.ledger.outbox.aside(now, 10)]).toEqual([[], []]);
      await b.ledger.lanes.clockSetBack(now, { all: true });
      expect(await b.ledger.graph.due(now, 10)).toEqual([lane]);
      expect(await b.ledger.outbox.aside(now, 10)).toMatchObject([{ lane }]);
    });

    it('so are canaries, and deliveries to webhooks that failed', async () => {
      const b = bench();
      await createWebhook(b);
      await oneMemory(b);
      const at = b.tools.now() + DAY;
      const canary = await startedCanary(b);
      expect(await b.ledger.canaries.take(b.tools.now(), at)).not.toBeNull();
      const [claimed] = await claimDeliveries(b);
      await note(b, claimed, failed(b, { retryAt: at, heldUntil: at }));
      const now = b.tools.now();
      expect([await b.ledger.canaries.take(now, at), await claimDeliveries(b)]).toEqual([null, []]);
      await b.ledger.lanes.clockSetBack(now, { all: true });
      expect(await b.ledger.canaries.take(now, now)).toMatchObject({ id: canary.id });
      expect(await claimDeliveries(b)).toHaveLength(1);
    });
  });
}
