import { DAY_MS, dayOf, type HeldShare, type SentCall, type Spending } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { scope, user } from './builders.ts';
import {
  ALL,
  ANN,
  type Bench,
  claim,
  expectKind,
  laneOf,
  nextTurn,
  OTHER_TENANT,
  store,
  TENANT,
} from './ledger-bench.ts';
import { create as createWebhook, notices } from './ledger-bench-webhooks.ts';

/** What comes of limits. */
export function describeLimits(bench: () => Bench): void {
  describe('a share of the daily limits', () => {
    const share = (epoch: number, part: number): HeldShare => ({
      ...{ epoch, part, until: 1_800_000_000_000, day: 20_000, limits: '[100,null]', elsewhere: 0.25, isLast: true },
      ...{ wantsAt: 0.4, wants: false },
    });

    it('is the one that was told last, whatever comes later of what was told before', async () => {
      const { shares, settings } = bench().ledger;
      expect([await shares.held(TENANT), (await settings.terms(TENANT)).shareEpoch]).toEqual([null, null]);
      expect(await shares.take(TENANT, share(2, 0.5))).toEqual(share(2, 0.5));
      expect(await shares.take(TENANT, share(1, 0.75))).toEqual(share(2, 0.5));
      expect(await shares.take(TENANT, share(2, 0.625))).toEqual(share(2, 0.625));
      expect([await shares.held(TENANT), await shares.held(OTHER_TENANT)]).toEqual([share(2, 0.625), null]);
      expect((await settings.terms(TENANT)).shareEpoch).toBe(2);
    });

    it('is wanted to be more until another one is told', async () => {
      const { shares } = bench().ledger;
      for (const tenant of [TENANT, OTHER_TENANT]) await shares.take(tenant, share(2, 0.5));
      await shares.want(OTHER_TENANT, 1);
      expect(await shares.wanting(10)).toEqual([]);
      for (const tenant of [TENANT, OTHER_TENANT]) await shares.want(tenant, 2);
      expect(await shares.wanting(10)).toEqual([TENANT, OTHER_TENANT].sort());
      expect(await shares.wanting(1)).toHaveLength(1);
      await shares.take(OTHER_TENANT, share(3, 0.5));
      expect(await shares.wanting(10)).toEqual([TENANT]);
    });
  });

  describe('an economy', () => {
    it('is noted as it climbs, read with the terms, and told once for each rung', async () => {
      const b = bench();
      const { limits, settings } = b.ledger;
      await createWebhook(b, { events: ['budget.rung'] });
      const since = b.tools.now();
      const first = { day: dayOf(since), rung: 1, highest: 1, limits: 'own', since };
      expect(await limits.economise(TENANT, seen(b, 0.85), since)).toEqual({ economy: first, told: true });
      expect(await limits.economise(TENANT, seen(b, 0.86), since + 1)).toEqual({ economy: first, told: false });
      expect((await settings.terms(TENANT)).economy).toEqual(first);
      expect((await settings.terms(OTHER_TENANT)).economy).toBeNull();
      await limits.economise(TENANT, seen(b, 0.99), since + 2);
      expect(await limits.economies()).toEqual([{ tenant: TENANT, ...first, rung: 3, highest: 3, since: since + 2 }]);
      const over = await limits.economise(TENANT, { ...seen(b, 0), limits: 'raised' }, since + 3);
      expect(over).toEqual({ economy: null, told: true });
      expect(await limits.economies()).toEqual([]);
      const told = (await notices(b)).map(({ data }) => (data as { rung: number }).rung);
      expect(told.sort()).toEqual([0, 1, 3]);
    });

    it('is pinned with a window, for all of its tries, and holds for no other day and tenant', async () => {
      const b = bench();
      await b.ledger.limits.economise(OTHER_TENANT, seen(b, 0.9), b.tools.now());
      await store(b);
      const usual = await nextTurn(b);
      expect(usual).not.toHaveProperty('rung');
      await b.ledger.limits.economise(TENANT, seen(b, 0.9), b.tools.now());
      const tried = async () => {
        const { id, generation } = await laneOf(b);
        return expectKind(await claim(b, { lane: id, generation }), 'claimed').turn;
      };
      expect(await tried(), 'it was pinned before').not.toHaveProperty('rung');
      await store(b, { scope: scope({ userId: 'bob' }) });
      expect(await nextTurn(b, { owner: user('bob') })).toMatchObject({ rung: 2 });
      await b.ledger.limits.economise(TENANT, { ...seen(b, 0), limits: 'raised' }, b.tools.now());
      const { id, generation } = await laneOf(b, user('bob'));
      expect(await claim(b, { lane: id, generation })).toMatchObject({ kind: 'claimed', turn: { rung: 2 } });
      await b.ledger.limits.economise(TENANT, seen(b, 0.9), b.tools.now());
      b.tools.advance(DAY_MS);
      await store(b, { scope: scope({ userId: 'eve' }) });
      expect(await nextTurn(b, { owner: user('eve') })).not.toHaveProperty('rung');
    });
  });

  describe('use', () => {
    it('is counted by owner, app and key as it is noted and settled, each call once', async () => {
      const b = bench();
      await store(b);
      const { id: lane } = await laneOf(b);
      const { usage } = b.ledger;
      const first = callOf(b, { lane, appId: 'notes', keyId: 'key_1' });
      await usage.note(first);
      await usage.note(first);
      expect(await usesOf(b, lane)).toEqual([
        { kind: 'app', who: 'notes', calls: 1, tokens: 0, hold: null },
        { kind: 'key', who: 'key_1', calls: 1, tokens: 0, hold: null },
        { kind: 'owner', who: lane, calls: 1, tokens: 0, hold: null },
      ]);
      const noted = { model: first.model, usage: first.usage, cost: first.cost };
      const answered = { ...first, outcome: 'answered', noted, tookMs: 1, usage: TOKENS } as const;
      await usage.settle([answered, answered]);
      const refused = callOf(b, { lane });
      await usage.note(refused);
      await usage.settle([{ ...refused, outcome: 'refused', noted, tookMs: 1 }]);
      await usage.settle([{ ...callOf(b, { lane }), outcome: 'answered', noted: null, tookMs: 1, usage: TOKENS }]);
      const uses = (await usesOf(b, lane)).map(({ kind, calls, tokens }) => [kind, calls, tokens]);
      expect(uses).toEqual([
        ['app', 1, 7],
        ['key', 1, 7],
        ['owner', 2, 14],
      ]);
    });

    it('notes no call of somebody who is held, or has used as much as there is room for and was not let go', async () => {
      const b = bench();
      await store(b);
      const turn = await nextTurn(b);
      const { usage, limits, thoughts } = b.ledger;
      const day = dayOf(b.tools.now());
      const [whose, key] = [
        { lane: turn.lane, keyId: 'key_1' },
        { kind: 'key', who: 'key_1', day },
      ] as const;
      const rooms = (calls: number, tokens = 99) =>
        [
          { kind: 'owner', who: turn.lane, day, calls: 99, tokens },
          { ...key, calls, tokens },
        ] as const;
      const noted = (...room: Parameters<typeof rooms>) => usage.note(callOf(b, whose), rooms(...room));
      const looked = async (...room: Parameters<typeof rooms>) => {
        const asked = { inputHash: 'h', steps: ['extract'], rooms: rooms(...room) };
        return (await thoughts.lastLook(turn, asked, callOf(b, whose))).isNoted;
      };
      const used = async () => (await usesOf(b, turn.lane)).map(({ calls, tokens }) => [calls, tokens]);
      expect(await noted(1), 'nothing is used yet').toBe(true);
      expect([await noted(1), await looked(1)], 'all of it is used').toEqual([false, false]);
      expect([await noted(2), await looked(3)]).toEqual([true, true]);
      await settled(b, whose);
      expect([await noted(9, 7), await looked(9, 7)], 'of tokens, too').toEqual([false, false]);
      expect(await used()).toEqual([
        [4, 7],
        [4, 7],
      ]);
      expect(await noted(5, 8)).toBe(true);
      const hold = {
        ...key,
        ...{ id: b.tools.id('hld'), tenant: TENANT, heldAt: 7 },
        ...({ measure: 'calls', used: 5, limit: 5 } as const),
      };
      await limits.hold(hold);
      expect([await noted(99), await looked(99)], 'it is held').toEqual([false, false]);
      await limits.release(TENANT, hold.id, 8);
      expect([await noted(1), await looked(1)], 'it was let go').toEqual([true, true]);
      expect(await usage.note(callOf(b, { ...whose, lane: null })), 'nobody asks how much').toBe(true);
      expect(await used()).toEqual([
        [8, 7],
        [7, 7],
      ]);
      const gone = { ...whose, lane: 'lane_gone' as typeof turn.lane };
      expect(await usage.note(callOf(b, gone), rooms(99)), 'of an owner who is gone').toBe(true);
    });

    it('has a median of each day that is over, which is worked out once and forgotten after a week', async () => {
      const b = bench();
      for (const [i, calls] of [3, 1, 2, 9].entries())
        for (let n = 0; n < calls; n += 1) await settled(b, { appId: `app-${i}` });
      const { limits } = b.ledger;
      const day = dayOf(b.tools.now());
      expect(await limits.settleDays(day, 7), 'the day is not over').toBe(0);
      expect(await limits.settleDays(day + 1, 7)).toBe(1);
      expect(await limits.settleDays(day + 1, 7)).toBe(0);
      const usual = (of: number, peers = 4) => limits.usual(TENANT, { day: of, days: 7, peers });
      expect(await usual(day + 1)).toEqual([{ kind: 'app', calls: 2, tokens: 14 }]);
      expect(await usual(day + 1, 5), 'too few of them').toEqual([]);
      expect(await usual(day)).toEqual([]);
      expect(await usual(day + 8)).toEqual([]);
      expect(await limits.ownUse(TENANT, { kind: 'app', who: 'app-0' }, { day: day + 1, days: 7 })).toEqual([
        { calls: 3, tokens: 21 },
      ]);
      await limits.settleDays(day + 8, 7);
      expect(await limits.ownUse(TENANT, { kind: 'app', who: 'app-0' }, { day: day + 8, days: 8 })).toEqual([]);
    });

    it('holds somebody once in a day, tells it, and lets go of them', async () => {
      const b = bench();
      await createWebhook(b, { events: ['use.held'] });
      await store(b);
      const { id: lane } = await laneOf(b);
      await settled(b, { lane });
      const { limits } = b.ledger;
      const day = dayOf(b.tools.now());
      const over = { measure: 'calls', used: 400, limit: 320 } as const;
      const hold = {
        id: b.tools.id('hld'),
        tenant: TENANT,
        kind: 'owner',
        who: lane,
        day,
        heldAt: 7,
        ...over,
      } as const;
      await limits.hold(hold);
      await limits.hold({ ...hold, id: b.tools.id('hld') });
      const kept = { ...hold, owner: ANN, releasedAt: null };
      expect((await limits.holds(TENANT, ALL)).results).toEqual([kept]);
      expect((await limits.holds(OTHER_TENANT, ALL)).results).toEqual([]);
      expect(await notices(b)).toMatchObject([{ type: 'use.held', data: { kind: 'user', id: ANN.id, used: 400 } }]);
      expect(await usesOf(b, lane)).toMatchObject([{ kind: 'owner', hold: 'held' }]);
      expect(await limits.heldOn(day)).toEqual({ owner: 1 });
      expect(await limits.release(OTHER_TENANT, hold.id, 8)).toBeNull();
      expect(await limits.release(TENANT, hold.id, 8)).toEqual({ ...kept, releasedAt: 8 });
      expect(await limits.release(TENANT, hold.id, 9)).toMatchObject({ releasedAt: 8 });
      expect(await usesOf(b, lane)).toMatchObject([{ kind: 'owner', hold: 'released' }]);
      expect(await limits.heldOn(day)).toEqual({});
    });
  });
}

const TOKENS = { promptTokens: 5, completionTokens: 2 };

type Whose = Partial<Pick<SentCall, 'lane' | 'appId' | 'keyId'>>;

const callOf = (b: Bench, whose: Whose): SentCall => ({
  ...{ tenant: TENANT, lane: null, consolidationId: null, appId: null, keyId: null, ...whose },
  ...{
    step: 'extract',
    cause: 'live',
    model: 'm',
    usage: TOKENS,
    cost: null,
    id: b.tools.id('cal'),
    at: b.tools.now(),
  },
});

const settled = (b: Bench, whose: Whose): Promise<void> =>
  b.ledger.usage.settle([{ ...callOf(b, whose), outcome: 'answered', noted: null, tookMs: 1 }]);

/** Of today. */
function usesOf(b: Bench, lane: string) {
  const whos = [
    { kind: 'owner', who: lane },
    { kind: 'app', who: 'notes' },
    { kind: 'key', who: 'key_1' },
  ] as const;
  return b.ledger.limits.uses(TENANT, whos, dayOf(b.tools.now()));
}

const seen = (b: Bench, share: number): Spending => ({
  ...{ day: dayOf(b.tools.now()), share, softLimit: 0.8, limits: 'own' },
});
