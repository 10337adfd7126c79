import type { Owner, OwnerKind, SearchIndex } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { found, NOON, OTHER_TENANT, point } from './search-index-suite-points.ts';

const HOUR = 3_600_000;

/** Who sees which point. */
export function describeSight(index: () => SearchIndex): void {
  describe('live', () => {
    test('former versions and expired memories are not shown', async () => {
      await index().upsert([
        point({ memoryId: 'holds' }),
        point({ memoryId: 'holds', version: 2, live: false, invalidAt: NOON }),
        point({ memoryId: 'gone', live: false, deletedAt: { at: NOON, seq: 5 } }),
        point({ memoryId: 'expired', expiresAt: NOON }),
        point({ memoryId: 'expires-later', expiresAt: NOON + 1 }),
      ]);
      expect(await found(index())).toEqual(['expires-later.1', 'holds.1']);
    });
  });

  describe('what was said before it begins', () => {
    const points = [
      point({ memoryId: 'job', version: 1, validFrom: NOON - HOUR, invalidAt: NOON + HOUR }),
      point({ memoryId: 'job', version: 2, validFrom: NOON + HOUR, shownFrom: NOON + HOUR }),
      point({ memoryId: 'trip', validFrom: NOON + HOUR, shownFrom: NOON - HOUR }),
    ];
    test.each([
      ['until it begins the version before is shown', NOON, ['job.1', 'trip.1']],
      ['from then on it is shown', NOON + HOUR, ['job.2', 'trip.1']],
    ])('%s, by a search now as by one for that moment', async (_what, at, shown) => {
      await index().upsert(points);
      expect(await found(index(), { visibility: { kind: 'live', now: at } })).toEqual(shown);
      expect(await found(index(), { visibility: { kind: 'as_of', at } })).toEqual(shown);
    });
  });

  describe('as_of', () => {
    const at = (moment: number) => found(index(), { visibility: { kind: 'as_of', at: moment } });

    test('a version is shown from its first moment until just before its last', async () => {
      await index().upsert([
        point({ memoryId: 'm', version: 1, live: false, validFrom: NOON, invalidAt: NOON + HOUR }),
        point({ memoryId: 'm', version: 2, validFrom: NOON + HOUR }),
      ]);
      expect(await at(NOON - 1)).toEqual([]);
      expect(await at(NOON)).toEqual(['m.1']);
      expect(await at(NOON + HOUR - 1)).toEqual(['m.1']);
      expect(await at(NOON + HOUR)).toEqual(['m.2']);
    });

    test('what was deleted is shown for the time before', async () => {
      const deletedAt = { at: NOON + HOUR, seq: 9 };
      await index().upsert([point({ memoryId: 'm', live: false, invalidAt: NOON + HOUR, deletedAt })]);
      expect(await at(NOON)).toEqual(['m.1']);
      expect(await at(NOON + HOUR)).toEqual([]);
    });

    test('what had expired is not shown', async () => {
      await index().upsert([point({ memoryId: 'm', expiresAt: NOON + HOUR })]);
      expect(await at(NOON + HOUR - 1)).toEqual(['m.1']);
      expect(await at(NOON + HOUR)).toEqual([]);
    });
  });

  describe('every', () => {
    const every = (begunBy: number | null) => found(index(), { visibility: { kind: 'every', begunBy } });

    test('former, deleted and expired versions are shown, each for itself', async () => {
      await index().upsert([
        point({ memoryId: 'm', version: 1, live: false, invalidAt: NOON }),
        point({ memoryId: 'm', version: 2 }),
        point({ memoryId: 'gone', live: false, invalidAt: NOON, deletedAt: { at: NOON, seq: 5 } }),
        point({ memoryId: 'expired', expiresAt: NOON - HOUR }),
      ]);
      expect(await every(null)).toEqual(['expired.1', 'gone.1', 'm.1', 'm.2']);
    });

    test('a moment leaves out what began to hold after it', async () => {
      await index().upsert([
        point({ memoryId: 'm', version: 1, live: false, validFrom: NOON, invalidAt: NOON + HOUR }),
        point({ memoryId: 'm', version: 2, validFrom: NOON + HOUR }),
      ]);
      expect(await every(NOON - 1)).toEqual([]);
      expect(await every(NOON)).toEqual(['m.1']);
      expect(await every(NOON + HOUR)).toEqual(['m.1', 'm.2']);
    });
  });

  describe('told_last', () => {
    test('an app sees what it was told last, whatever held since, and no other app does', async () => {
      await index().upsert([
        point({ memoryId: 'm', version: 1, live: false, invalidAt: NOON, toldLast: { alone: [], shared: ['shop'] } }),
        point({ memoryId: 'm', version: 2, toldLast: { alone: [], shared: ["we'b", 'bank'] } }),
        point({ memoryId: 'own', toldLast: { alone: ['shop'], shared: [] } }),
        point({ memoryId: 'nobody' }),
      ]);
      const told = (appId: string, among: 'alone' | 'shared') =>
        found(index(), { visibility: { kind: 'told_last', appId, among } });
      expect(await told('shop', 'shared')).toEqual(['m.1']);
      expect(await told('shop', 'alone')).toEqual(['own.1']);
      expect(await told("we'b", 'shared')).toEqual(['m.2']);
      expect(await told('bank', 'shared')).toEqual(['m.2']);
      expect(await told("we'b", 'alone')).toEqual([]);
    });
  });

  describe('live_or_said_after', () => {
    const saidAfter = (seq: number) =>
      found(index(), { visibility: { kind: 'live_or_said_after', after: { at: NOON, seq } } });

    test('former versions are shown if they were said later', async () => {
      await index().upsert([
        point({ memoryId: 'm', version: 1, live: false, saidAt: { at: NOON, seq: 4 }, invalidAt: NOON }),
        point({ memoryId: 'm', version: 2, live: false, saidAt: { at: NOON, seq: 6 }, invalidAt: NOON }),
        point({ memoryId: 'm', version: 3, saidAt: { at: NOON, seq: 8 } }),
        point({ memoryId: 'old', saidAt: { at: NOON - HOUR, seq: 1 } }),
      ]);
      expect(await saidAfter(5)).toEqual(['m.2', 'm.3', 'old.1']);
      expect(await saidAfter(6)).toEqual(['m.3', 'old.1']);
      expect(await saidAfter(3)).toEqual(['m.1', 'm.2', 'm.3', 'old.1']);
    });

    test('deleted memories are shown if they were deleted later', async () => {
      const saidAt = { at: NOON - HOUR, seq: 1 };
      await index().upsert([point({ memoryId: 'm', live: false, saidAt, deletedAt: { at: NOON, seq: 7 } })]);
      expect(await saidAfter(6)).toEqual(['m.1']);
      expect(await saidAfter(7)).toEqual([]);
    });
  });

  describe('owners', () => {
    const kinds: OwnerKind[] = ['user', 'agent', 'run'];

    test('users, agents and runs of the same id are strangers', async () => {
      await index().upsert(kinds.map((kind) => point({ memoryId: `of-${kind}`, owner: { kind, id: 'x' } })));
      for (const kind of kinds) {
        expect(await found(index(), { owner: { kind, id: 'x' }, terms: ['tea'] })).toEqual([`of-${kind}.1`]);
      }
    });

    test('tenants with the same users are strangers, even with the same memory id', async () => {
      await index().upsert([point({ memoryId: 'm', text: 'ours' })]);
      await index().upsert([point({ memoryId: 'm', tenant: OTHER_TENANT, text: 'theirs', revision: 9 })]);
      await index().upsert([point({ memoryId: 'n', tenant: OTHER_TENANT })]);
      expect(await found(index())).toEqual(['m.1']);
      expect(await found(index(), { tenant: OTHER_TENANT })).toEqual(['m.1', 'n.1']);
    });

    test('ids are compared to the letter, whatever is in them', async () => {
      const ids = ['ann', 'Ann', 'ann ', 'a%', 'a_', "a'--", 'a*', 'ä', 'a\u0308', '"a"', '*', 'a:b', 'a\\', '0'];
      const owners = ids.map((id): Owner => ({ kind: 'user', id }));
      await index().upsert(owners.map((owner, i) => point({ memoryId: `m${i}`, owner })));
      const asked = await Promise.all(owners.map((owner) => found(index(), { owner })));
      expect(asked).toEqual(ids.map((_, i) => [`m${i}.1`]));
    });

    test('an owner nobody has written for has nothing', async () => {
      await index().upsert([point({ memoryId: 'm' })]);
      expect(await found(index(), { owner: { kind: 'user', id: 'nobody' }, terms: ['tea'] })).toEqual([]);
    });
  });

  describe('filters', () => {
    test('each id of the scope filters, together they all must fit', async () => {
      const scope = (agentId: string | null, runId: string | null, appId: string | null) => ({
        userId: 'ann',
        agentId,
        runId,
        appId,
      });
      await index().upsert([
        point({ memoryId: 'bare' }),
        point({ memoryId: 'coach', scope: scope('coach', null, null) }),
        point({ memoryId: 'coach-r1', scope: scope('coach', 'r1', 'web') }),
        point({ memoryId: 'chef-r1', scope: scope('chef', 'r1', null) }),
      ]);
      const filtered = (filter: object) => found(index(), { filter, terms: ['tea'] });
      expect(await filtered({})).toHaveLength(4);
      expect(await filtered({ agentId: 'coach' })).toEqual(['coach-r1.1', 'coach.1']);
      expect(await filtered({ runId: 'r1' })).toEqual(['chef-r1.1', 'coach-r1.1']);
      expect(await filtered({ agentId: 'coach', runId: 'r1' })).toEqual(['coach-r1.1']);
      expect(await filtered({ appId: 'web' })).toEqual(['coach-r1.1']);
      expect(await filtered({ appId: 'other' })).toEqual([]);
    });
  });
}
