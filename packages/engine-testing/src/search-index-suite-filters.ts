import { type Filterable, type Json, matches, readFilter, type SearchIndex } from '@slowwave/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyFilter, anyFilterable } from './any-filters.ts';
import { DOCUMENTS, FILTER_CASES } from './filter-cases.ts';
import { ask, found, NOON, point, query } from './search-index-suite-points.ts';

const MANY = { limit: 1_000, terms: ['tea'] } as const;
/** Questions at a time. */
const AT_ONCE = 100;

const pointFor = (of: Filterable) => point({ ...of, terms: ['tea'] });

/** What a caller asks for beside the scope. */
export function describeFilters(index: () => SearchIndex, randomFilters: number): void {
  const foundBy = (filter: Json) => found(index(), { ...MANY, where: readFilter(filter) });

  describe('a filter', () => {
    test('finds what it says', async () => {
      await index().upsert(DOCUMENTS.map(pointFor));
      const found = await foundByEach(
        index(),
        FILTER_CASES.map(({ filter }) => filter),
      );
      const wrong = FILTER_CASES.map((one, i) => ({ ...one, found: found[i] ?? [] })).filter(differ);
      expect(wrong).toEqual([]);
    });

    test('finds what it says of anything', async () => {
      const documents = fc.sample(anyFilterable, { numRuns: 60, seed: 7 });
      const known = documents.map((of, i) => ({ ...of, memoryId: `m${i}` }));
      await index().upsert(known.map(pointFor));
      const filters = fc.sample(anyFilter, { numRuns: randomFilters, seed: 11 });
      const found = await foundByEach(index(), filters);
      const wrong = filters
        .map((filter, i) => {
          const where = readFilter(filter);
          const finds = known.filter((of) => matches(where, of)).map(({ memoryId }) => memoryId);
          return { filter, finds, found: found[i] ?? [] };
        })
        .filter(differ);
      expect(wrong).toEqual([]);
    });

    test('finds as much as was asked for, the nearest first, however few there are among the near', async () => {
      const far = Float32Array.of(0.6, 0.8, 0, 0);
      const many = Array.from({ length: 150 }, (_, i) => point({ memoryId: `near${i}`, text: 'Ann drinks tea' }));
      const rare = ['a', 'b', 'c'].map((memoryId) => point({ memoryId, text: 'Ann drinks tea, Té', vector: far }));
      await index().upsert([...many, ...rare]);
      const where = readFilter({ memory: { icontains: 'TÉ' } });
      const hits = await ask(index(), { where, limit: 2, terms: ['tea'] });
      expect(hits.map((hit) => [hit.point.memoryId, hit.vectorScore?.toFixed(2)])).toEqual([
        ['a', '0.60'],
        ['b', '0.60'],
      ]);
      expect(hits.every((hit) => hit.keywordScore !== null)).toBe(true);
    });

    test.each([
      ['a category', { categories: 'food' }, (fits: boolean) => ({ category: fits ? 'food' : 'work' })],
      [
        'a time',
        { created_at: { gte: '1970-01-01T00:00:10Z' } },
        (fits: boolean) => ({ createdAt: fits ? 20_000 : 5_000 }),
      ],
    ])(
      'by %s sees what has changed since it was asked before, also of an owner who came again',
      async (_, filter, saying) => {
        const where = readFilter(filter);
        const fitting = async () => (await ask(index(), { where, limit: 100 })).map((hit) => hit.point.memoryId);
        const as = (memoryId: string, fits: boolean, revision = 1) => point({ memoryId, revision, ...saying(fits) });
        await index().upsert([as('m1', true), as('m2', false), as('m3', true)]);
        for (let n = 0; n < 3; n += 1) expect(await fitting()).toEqual(['m1', 'm3']);
        await index().upsert([as('m2', true, 2), as('m3', false, 2), as('m4', true)]);
        expect(await fitting()).toEqual(['m1', 'm2', 'm4']);
        await index().withdraw([as('m1', true, 2)]);
        expect(await fitting()).toEqual(['m2', 'm4']);
        await index().upsert([{ ...as('m2', true, 3), live: false }]);
        expect(await fitting()).toEqual(['m4']);
        await index().clear();
        await index().upsert([as('m5', true), as('m6', false)]);
        expect(await fitting()).toEqual(['m5']);
      },
    );

    test('only narrows: what the question does not see it never brings', async () => {
      await index().upsert([
        point({ memoryId: 'mine' }),
        point({ memoryId: 'former', live: false, invalidAt: NOON }),
        point({ memoryId: 'theirs', owner: { kind: 'user', id: 'bob' } }),
      ]);
      expect(await foundBy({ OR: [{}, { user_id: 'bob' }] })).toEqual(['mine.1']);
      expect(await foundBy({ user_id: 'bob' })).toEqual([]);
      expect(await foundBy({ NOT: [{ user_id: 'nobody' }] })).toEqual(['mine.1']);
    });
  });
}

/** Names of memories, by filter. */
async function foundByEach(index: SearchIndex, filters: readonly Json[]): Promise<string[][]> {
  const found: string[][] = [];
  for (let i = 0; i < filters.length; i += AT_ONCE) {
    const questions = filters.slice(i, i + AT_ONCE).map((json) => query({ ...MANY, where: readFilter(json) }));
    for (const hits of await index.search(questions)) found.push(hits.map((hit) => hit.point.memoryId));
  }
  return found;
}

const differ = (one: { readonly finds: readonly string[]; readonly found: readonly string[] }): boolean =>
  [...one.finds].sort().join() !== [...one.found].sort().join();
