import type { Act, LaneId, Night, NightEnd, Plan, SettledCall } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import {
  added,
  bitsOf,
  home,
  newBatch,
  newPlan,
  scope,
  settings,
  settledCall,
  storedAnswer,
  user,
} from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  claimedBatch,
  expectKind,
  failure,
  laneOf,
  MINUTE,
  OTHER_TENANT,
  TENANT,
} from './ledger-bench.ts';
import { create, notices, oneMemory } from './ledger-bench-webhooks.ts';

const HOLD_MS = MINUTE;
const HOUR = 60 * MINUTE;

/** Nights of owners. */
export function describeNights(bench: () => Bench): void {
  describe('a night', () => {
    it('is due for who has news and was quiet, until it was looked at', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const at = b.tools.now();
      const due = (quietSince: number, tenant = TENANT) =>
        b.ledger.nights.due(tenant, { quietSince, now: b.tools.now(), limit: 10 });
      expect(await due(at - 1)).toEqual([]);
      expect(await due(at)).toEqual([lane]);
      expect(await due(at, OTHER_TENANT)).toEqual([]);
      b.tools.advance(HOUR);
      const night = await claimed(b, lane);
      expect(await due(b.tools.now())).toEqual([]);
      await b.ledger.nights.end(night, restsIn(b, b.tools.now() + HOUR));
      expect(await due(b.tools.now())).toEqual([]);
      b.tools.advance(HOUR);
      expect(await due(b.tools.now())).toEqual([lane]);
      expect((await claimed(b, lane)).seen).toEqual(['a', 'b']);
    });

    it('is due again when an answer that told a memory of theirs was judged', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const { lane } = memory;
      await b.ledger.nights.end(await claimed(b, lane), restsIn(b));
      const due = () => b.ledger.nights.due(TENANT, { quietSince: b.tools.now(), now: b.tools.now(), limit: 10 });
      expect(await due()).toEqual([]);
      const id = b.tools.id('rcp', bitsOf(b.tools, ANN));
      const asked = { route: 'search', scope: scope(), ownApp: false, question: 'tea?', filters: null } as const;
      const told = [{ kind: 'memory', id: memory.id, version: 1 }] as const;
      await b.ledger.receipts.append([{ ...asked, id, tenant: TENANT, lane, told, at: 1, asOf: null, position: 1 }]);
      expect(await due()).toEqual([]);
      await b.ledger.receipts.judge(TENANT, id, { outcome: 'good', now: b.tools.now() });
      expect(await due()).toEqual([lane]);
    });

    it('knows what its owner’s consolidations and other nights have used since a moment, without embeddings', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      const { nights, usage } = b.ledger;
      const night = await claimed(b, turn.lane);
      await nights.storeAnswer(night, storedAnswer(b.tools, { step: 'sleep:1' }));
      const of = ({ consolidationId }: Night, step: SettledCall['step']) =>
        settledCall(b.tools, { ...turn, consolidationId }, { step });
      const before = of(night, 'sleep');
      await usage.settle([before, of(night, 'embed'), settledCall(b.tools, turn), settledCall(b.tools, turn)]);
      const one = before.usage.promptTokens + before.usage.completionTokens;
      expect(await nights.used(night, 0)).toEqual({ consolidations: 2 * one, nights: 0 });
      await nights.end(night, restsIn(b));
      b.tools.advance(HOUR);
      const next = await claimed(b, turn.lane);
      expect(await nights.used(next, 0)).toEqual({ consolidations: 2 * one, nights: one });
      expect(await nights.used(next, b.tools.now())).toEqual({ consolidations: 0, nights: 0 });
    });

    it('is claimed by one at a time, goes on where it was, and fences who had it before', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const { nights, thoughts } = b.ledger;
      const late = await claimed(b, lane);
      const later = await nights.claim(lane, { id: idOf(b), now: b.tools.now(), holdMs: HOLD_MS });
      expect(later).toEqual({ kind: 'later', at: b.tools.now() + HOLD_MS });
      const answer = storedAnswer(b.tools, { step: 'sleep:0' });
      for (const _ of [1, 2]) expect(await nights.storeAnswer(late, answer)).toEqual({ kind: 'stored' });
      await nights.storePlan(late, planOf(late));
      b.tools.advance(HOLD_MS);
      const night = await claimed(b, lane);
      const { consolidationId } = late;
      expect(night).toMatchObject({ consolidationId, epoch: 2, attempts: 0, plan: planOf(late), scope: scope() });
      expect(await thoughts.answers(consolidationId)).toEqual([answer]);
      expect([await nights.holds(late), await nights.holds(night)]).toEqual([false, true]);
      const fenced = { kind: 'fenced' };
      expect(await nights.storeAnswer(late, answer)).toEqual(fenced);
      expect(await nights.storePlan(late, planOf(late))).toEqual(fenced);
      expect(await nights.end(late, restsIn(b))).toEqual(fenced);
      expect(await nights.fail(late, { failure: failure(b.tools.now()), retryAt: null })).toEqual(fenced);
      expect(await nights.spent(TENANT, b.tools.now() - HOUR)).toBe(
        answer.usage.promptTokens + answer.usage.completionTokens,
      );
      expect(await nights.spent(TENANT, b.tools.now() + 1)).toBe(0);
    });

    it('that finds nothing leaves nothing, unless it asked or refused', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const { nights, thoughts } = b.ledger;
      const silent = await claimed(b, lane);
      await nights.storePlan(silent, planOf(silent));
      await nights.end(silent, restsIn(b));
      expect(await nights.get(TENANT, silent.consolidationId)).toBeNull();
      expect(await thoughts.get(TENANT, silent.consolidationId)).toBeNull();
      const asking = await claimed(b, lane);
      await nights.storeAnswer(asking, storedAnswer(b.tools, { step: 'sleep:0' }));
      await nights.end(asking, restsIn(b));
      const refusing = await claimed(b, lane);
      await nights.storePlan(refusing, planOf(refusing));
      await nights.end(refusing, { ...restsIn(b), outcome: { kind: 'rests', refused: 1 } });
      for (const { consolidationId: id } of [asking, refusing]) {
        expect(await nights.get(TENANT, id)).toMatchObject({ state: 'applied', operations: 0 });
        expect(await thoughts.get(TENANT, id)).toMatchObject({ state: 'applied' });
      }
      expect(await thoughts.plan(refusing.consolidationId)).toEqual(planOf(refusing));
    });

    it('is applied with its memories at once, or not at all', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const night = await claimed(b, lane);
      const change = added(b.tools, home(lane));
      const stale = { ...change, expectedRevision: 3 };
      const applies = { kind: 'applies', tombstones: [], reviews: [], acts: [act('a')] } as const;
      const { nights, memories } = b.ledger;
      expect(await nights.end(night, { ...restsIn(b), outcome: { ...applies, changes: [stale] } })).toEqual({
        kind: 'conflict',
      });
      expect(await nights.end(night, { ...restsIn(b), outcome: { ...applies, changes: [change] } })).toEqual({
        kind: 'ended',
      });
      expect((await memories.get(TENANT, change.memory.id))?.versions).toHaveLength(1);
      const kept = { state: 'applied', undone: false, operations: 1, memories: 1, endedAt: b.tools.now() };
      const again = await b.reopened();
      expect(await again.nights.get(TENANT, night.consolidationId)).toMatchObject(kept);
      expect(await again.nights.get(OTHER_TENANT, night.consolidationId)).toBeNull();
      const { results } = await again.nights.list(TENANT, { userId: 'ann', state: 'applied' }, ALL);
      expect(results.map(({ id }) => id)).toEqual([night.consolidationId]);
      expect((await again.nights.list(TENANT, { userId: 'bob' }, ALL)).results).toEqual([]);
      expect((await again.nights.list(TENANT, { state: 'waiting' }, ALL)).results).toEqual([]);
    });

    it('whose plan waits is decided once, and holds up the next', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const { nights } = b.ledger;
      const waits = { kind: 'waits', why: 'preview', memories: 1, acts: [act('a'), act('b')] } as const;
      const first = await claimed(b, lane);
      await nights.storePlan(first, planOf(first));
      await nights.end(first, { ...restsIn(b), outcome: waits });
      expect(await nights.get(TENANT, first.consolidationId)).toMatchObject({ state: 'waiting', why: 'preview' });
      const how = { id: idOf(b), now: b.tools.now(), holdMs: HOLD_MS };
      expect(await nights.claim(lane, how)).toEqual({ kind: 'none' });
      b.tools.advance(HOUR);
      const now = b.tools.now();
      const { id } = { id: first.consolidationId };
      expect(await nights.decide(OTHER_TENANT, id, { state: 'discarded', now })).toEqual({ kind: 'over' });
      expect(await nights.decide(TENANT, id, { state: 'discarded', now })).toEqual({ kind: 'ended' });
      expect(await nights.decide(TENANT, id, { state: 'stale', now })).toEqual({ kind: 'over' });
      const second = await claimed(b, lane);
      expect(second.seen).toEqual(['a', 'b']);
      await nights.end(second, { ...restsIn(b), outcome: waits });
      const change = added(b.tools, home(lane));
      const applied = { state: 'applied', now, tombstones: [], reviews: [], acts: [act('a'), act('b')] } as const;
      const bad = { ...applied, changes: [{ ...change, expectedRevision: 1 }] };
      expect(await nights.decide(TENANT, second.consolidationId, bad)).toEqual({ kind: 'conflict' });
      const good = { ...applied, changes: [change] };
      expect(await nights.decide(TENANT, second.consolidationId, good)).toEqual({ kind: 'ended' });
      const third = await claimed(b, lane);
      await nights.end(third, { ...restsIn(b), outcome: waits });
      await nights.decide(TENANT, third.consolidationId, { state: 'stale', now });
      expect((await claimed(b, lane)).seen).toEqual([]);
    });

    it('is told to webhooks with its acts, once it waits and once it is applied; not to those of an app or of others', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const events = ['night.applied', 'night.waits'] as const;
      await create(b, { events });
      for (const other of [{ appId: 'shop' }, { userId: 'bob' }]) await create(b, { events, ...other });
      const night = await claimed(b, lane);
      const acts = Array.from({ length: 51 }, (_, i) => act(`User was off to Oslo ${i}`));
      const waits = { kind: 'waits', why: 'share', memories: 51, acts } as const;
      await b.ledger.nights.end(night, { ...restsIn(b), outcome: waits });
      b.tools.advance(HOUR);
      const changes = [added(b.tools, home(lane))];
      const applied = { state: 'applied', now: b.tools.now(), changes, tombstones: [], reviews: [] } as const;
      await b.ledger.nights.decide(TENANT, night.consolidationId, { ...applied, acts: acts.slice(0, 1) });
      const told = await notices(b);
      expect(told.map(({ type }) => type)).toEqual(['night.waits', 'night.applied']);
      expect(told[0]?.data).toMatchObject({
        ...{ night_id: night.consolidationId, why: 'share', memories: 51, user_id: 'ann', acts_left_out: 1 },
        acts: { length: 50 },
        text: expect.stringMatching(/^age: “User is off to Oslo” → “User was off to Oslo 0”\n(.*\n){49}… and 1 more$/),
      });
      expect(told[1]?.data).toMatchObject({
        memories: 1,
        acts: [{ act: 'age', memory_id: 'mem_1', reason: 'it is over', asks: false }],
      });
    });

    it('that fails waits for its time, and ends once its tries are used up', async () => {
      const b = bench();
      const lane = await quietLane(b);
      const { nights } = b.ledger;
      const night = await claimed(b, lane);
      const retryAt = b.tools.now() + HOUR;
      await nights.fail(night, { failure: failure(b.tools.now()), retryAt });
      const how = () => ({ id: idOf(b), now: b.tools.now(), holdMs: HOLD_MS });
      expect(await nights.claim(lane, how())).toEqual({ kind: 'later', at: retryAt });
      b.tools.advance(HOUR);
      const again = await claimed(b, lane);
      expect(again).toMatchObject({ consolidationId: night.consolidationId, attempts: 1 });
      await nights.release(again, b.tools.now());
      const last = await claimed(b, lane);
      expect(last.attempts).toBe(1);
      await nights.fail(last, { failure: failure(b.tools.now()), retryAt: null });
      const record = await nights.get(TENANT, night.consolidationId);
      expect(record).toMatchObject({ state: 'failed', failure: { code: 'model_timeout' } });
    });

    it('is not begun while messages wait, nor for nobody', async () => {
      const b = bench();
      const lane = await quietLane(b);
      await b.ledger.batches.append(newBatch(b.tools), { tokens: 1_000, idleMs: 1, maxAgeMs: 1 });
      const how = { id: idOf(b), now: b.tools.now(), holdMs: HOLD_MS };
      expect(await b.ledger.nights.claim(lane, how)).toEqual({ kind: 'none' });
      expect(await b.ledger.nights.claim('lane_none' as LaneId, how)).toEqual({ kind: 'none' });
      expect(await b.ledger.nights.due(TENANT, { quietSince: b.tools.now(), now: b.tools.now(), limit: 5 })).toEqual(
        [],
      );
    });
  });
}

const act = (after: string): Act => ({
  ...{ act: 'age', memoryId: 'mem_1', before: 'User is off to Oslo', after, evidence: [], reason: 'it is over' },
  ...{ decidedBy: 'rule', asks: false },
});

const idOf = ({ tools }: Bench): string => tools.id('con', bitsOf(tools, ANN));

/** A lane of an owner for whom nothing waits. */
async function quietLane(b: Bench): Promise<LaneId> {
  await b.ledger.memories.laneOf(TENANT, user('ann'), b.tools.now());
  return (await laneOf(b)).id;
}

async function claimed(b: Bench, lane: LaneId): Promise<Night> {
  const claim = await b.ledger.nights.claim(lane, { id: idOf(b), now: b.tools.now(), holdMs: HOLD_MS });
  return expectKind(claim, 'claimed').night;
}

const planOf = (night: Night): Plan =>
  newPlan({ ...night, generation: 0, batchIds: [], variant: null, settings: settings() });

const restsIn = ({ tools }: Bench, nextAt: number | null = null): NightEnd => ({
  ...{ seen: ['a', 'b'], nextAt, now: tools.now() },
  outcome: { kind: 'rests', refused: 0 },
});
