import { DAY_MS, dayOf, type Spending } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { scope, user } from './builders.ts';
import { type Bench, claim, expectKind, laneOf, nextTurn, OTHER_TENANT, store, TENANT } from './ledger-bench.ts';
import { create as createWebhook, notices } from './ledger-bench-webhooks.ts';

/** What comes of limits. */
export function describeLimits(bench: () => Bench): void {
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
}

const seen = (b: Bench, share: number): Spending => ({
  ...{ day: dayOf(b.tools.now()), share, softLimit: 0.8, limits: 'own' },
});
