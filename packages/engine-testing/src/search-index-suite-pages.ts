import { type IndexHit, type SearchIndex, shownPart } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { OTHER_TENANT, point, SUITE_SPACE } from './search-index-suite-points.ts';

/** Reading everything there is, page by page. */
export function describePages(index: () => SearchIndex): void {
  describe('reading from end to end', () => {
    const read = async (limit: number): Promise<IndexHit['point'][]> => {
      const all: IndexHit['point'][] = [];
      for (let after: string | null = null; ; ) {
        const { points, next } = await index().page(after, limit);
        expect(points.length).toBeLessThanOrEqual(limit);
        all.push(...points);
        if (next === null) return all;
        after = next;
      }
    };

    test('every point of every tenant and owner comes once, whatever the size of the pages', async () => {
      const other = { kind: 'agent' as const, id: 'bot' };
      await index().upsert([
        ...['a', 'b', 'c'].map((memoryId) => point({ memoryId })),
        point({ memoryId: 'a', version: 2 }),
        point({ memoryId: 'd', tenant: OTHER_TENANT }),
        point({ memoryId: 'e', owner: other }),
      ]);
      for (const limit of [1, 2, 3, 6, 100]) {
        const names = (await read(limit)).map(({ memoryId, version }) => `${memoryId}.${version}`);
        expect(names.sort()).toEqual(['a.1', 'a.2', 'b.1', 'c.1', 'd.1', 'e.1']);
      }
    });

    test('points come as they were given, also those that no search shows', async () => {
      const given = point({ memoryId: 'm', live: false, text: 'gone 北京', metadata: { deep: [1] }, expiresAt: 1 });
      await index().upsert([given]);
      expect(await read(10)).toEqual([shownPart(given)]);
    });

    test('an empty index has one empty page, also when it is stamped', async () => {
      expect(await index().page(null, 10)).toEqual({ points: [], next: null });
      await index().stamp({ ledgerId: 'led_1', fingerprint: SUITE_SPACE.fingerprint });
      expect(await index().page(null, 10)).toEqual({ points: [], next: null });
    });
  });
}
