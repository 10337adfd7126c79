import { DEFAULT_TENANT, type LaneId, type Owner, type SearchIndex, SHELVES } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { ask, found, foundBy, OTHER_TENANT, point, query } from './search-index-suite-points.ts';

const ANN: Owner = { kind: 'user', id: 'ann' };
const OLD = 'lane_old' as LaneId;
const NEW = 'lane_new' as LaneId;

/** What goes when a lane is erased. */
export function describeForgetting(index: () => SearchIndex): void {
  const forget = (lane = OLD, owner = ANN) => index().forget({ tenant: DEFAULT_TENANT, owner, lane });

  describe('forgetting a lane', () => {
    test('every version of its points goes, whatever it shows', async () => {
      await index().upsert([
        point({ memoryId: 'm', lane: OLD }),
        point({ memoryId: 'm', lane: OLD, version: 2, live: false }),
        point({ memoryId: 'n', lane: OLD, expiresAt: 1 }),
      ]);
      expect(await found(index(), { lane: OLD })).toEqual(['m.1']);
      expect(await forget()).toBe(3);
      expect(await found(index(), { lane: OLD })).toEqual([]);
      expect(await foundBy(index(), 'tea', OLD)).toEqual([]);
      expect(await index().count(DEFAULT_TENANT)).toBe(0);
      expect(await forget()).toBe(0);
    });

    test('points of the same owner in another lane stay, and are found as before', async () => {
      const names = ['a', 'b', 'c', 'd'];
      await index().upsert(names.map((memoryId, i) => point({ memoryId, lane: i % 2 === 0 ? OLD : NEW })));
      expect(await found(index(), { lane: NEW })).toEqual(['b.1', 'd.1']);
      expect(await forget()).toBe(2);
      expect(await found(index(), { lane: OLD })).toEqual([]);
      expect(await found(index(), { lane: NEW })).toEqual(['b.1', 'd.1']);
      expect(await foundBy(index(), 'tea', NEW)).toEqual(['b.1', 'd.1']);
      expect(await index().count(DEFAULT_TENANT)).toBe(2);
      await index().upsert([point({ memoryId: 'e', lane: NEW }), point({ memoryId: 'b', lane: NEW, revision: 2 })]);
      expect(await found(index(), { lane: NEW })).toEqual(['b.1', 'd.1', 'e.1']);
    });

    test('what one lane of an owner has is never found, and counts for nothing, where another is asked', async () => {
      const said = { contextTerms: ['tea'], text: 'tea and milk' };
      for (const shelf of SHELVES) {
        await index().upsert(['a', 'b'].map((memoryId) => point({ memoryId, shelf, lane: OLD, ...said })));
        await index().upsert([point({ memoryId: 'c', shelf, lane: NEW, ...said })]);
        const alone = await ask(index(), { shelf, lane: NEW, vector: null, terms: ['tea'], wide: true });
        expect(alone.map(({ point }) => point.memoryId)).toEqual(['c']);
        await forget();
        expect(await ask(index(), { shelf, lane: NEW, vector: null, terms: ['tea'], wide: true })).toEqual(alone);
      }
    });

    test('what comes late to a lane that was forgotten is not found in the one that came after it', async () => {
      await index().upsert([point({ memoryId: 'a', lane: OLD })]);
      await index().upsert([point({ memoryId: 'b', lane: NEW })]);
      await forget();
      await index().upsert([point({ memoryId: 'late', lane: OLD })]);
      expect(await found(index(), { lane: NEW })).toEqual(['b.1']);
      expect(await forget()).toBe(1);
      expect(await found(index(), { lane: NEW })).toEqual(['b.1']);
      expect(await index().count(DEFAULT_TENANT)).toBe(1);
    });

    test('other owners and tenants keep theirs', async () => {
      const bob: Owner = { kind: 'user', id: 'bob' };
      const agent: Owner = { kind: 'agent', id: 'ann' };
      await index().upsert([point({ memoryId: 'a', lane: OLD }), point({ memoryId: 'b', lane: OLD, owner: bob })]);
      await index().upsert([point({ memoryId: 'c', lane: OLD, owner: agent })]);
      await index().upsert([point({ memoryId: 'd', lane: OLD, tenant: OTHER_TENANT })]);
      expect(await forget()).toBe(1);
      expect(await found(index(), { owner: bob, lane: OLD })).toEqual(['b.1']);
      expect(await found(index(), { owner: agent, lane: OLD })).toEqual(['c.1']);
      expect(await found(index(), { tenant: OTHER_TENANT, lane: OLD })).toEqual(['d.1']);
    });

    test('an owner without points has nothing to forget', async () => {
      expect(await forget()).toBe(0);
    });

    test('what was forgotten can be written anew', async () => {
      await index().upsert([point({ memoryId: 'm', lane: OLD, revision: 7 })]);
      await forget();
      await index().upsert([point({ memoryId: 'm', lane: NEW, revision: 1, text: 'milk' })]);
      const [hits] = await index().search([query({ lane: NEW })]);
      expect(hits?.map((hit) => hit.point.text)).toEqual(['milk']);
    });

    test('files are compacted without losing what stays', async () => {
      await index().upsert([point({ memoryId: 'a', lane: OLD }), point({ memoryId: 'b', lane: NEW })]);
      await forget();
      expect((await index().compact()).done).toBe(true);
      expect(await found(index(), { lane: NEW })).toEqual(['b.1']);
    });
  });
}
