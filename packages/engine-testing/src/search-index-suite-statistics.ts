import { type IndexHit, type IndexPoint, type IndexQuery, type SearchIndex, scan, terms } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { ask, OTHER_TENANT, point, query, ranked } from './search-index-suite-points.ts';

/** Over which memories an index counts how rare a term is: the owner's own where it can. */
export type KeywordStatistics = 'owner' | 'tenant' | 'collection';

/** How far a score may be from the reference: single precision, several additions. */
const DIGITS = 4;

/** What keyword scores say, and who moves them. */
export function describeStatistics(index: () => SearchIndex, statistics: KeywordStatistics): void {
  describe('keyword scores', () => {
    test('rare terms count more than common ones, repeats and short texts more than long ones', async () => {
      await index().upsert([
        point({ memoryId: 'both', text: 'green tea' }),
        point({ memoryId: 'rare', text: 'green salad' }),
        point({ memoryId: 'often', text: 'tea, tea' }),
        point({ memoryId: 'once', text: 'black tea' }),
        point({ memoryId: 'long', text: 'white tea in large cups beside small rivers under old trees' }),
      ]);
      const hits = await ask(index(), { vector: null, terms: terms('green tea') });
      expect(ranked(hits, 'keywordScore')).toEqual(['both.1', 'rare.1', 'often.1', 'once.1', 'long.1']);
      expect(hits.every((hit) => (hit.keywordScore ?? 0) > 0)).toBe(true);
    });

    if (statistics !== 'collection') {
      test('another tenant does not move them', async () => {
        await index().upsert(mine());
        const before = await ask(index(), ASKED);
        await index().upsert(theirs().map((one) => ({ ...one, tenant: OTHER_TENANT })));
        expect(await ask(index(), ASKED)).toEqual(before);
      });
    }

    if (statistics === 'owner') {
      test('they are those of BM25 over what the owner has, and others do not move them', async () => {
        await index().upsert([...theirs(), ...mine()]);
        const hits = await ask(index(), ASKED);
        const asked = query(ASKED);
        expect(ranked(hits, 'keywordScore')).toEqual(ranked(scan(mine(), asked), 'keywordScore'));
        for (const expected of scan(mine(), asked)) {
          const hit = hits.find(({ point: { memoryId } }) => memoryId === expected.point.memoryId);
          expect(hit?.keywordScore).toBeCloseTo(expected.keywordScore ?? -1, DIGITS);
        }
      });
    }
  });
}

const ASKED = { vector: null, terms: terms('green tea in a cup') };

const mine = (): IndexPoint[] => [
  point({ memoryId: 'a', text: 'green tea' }),
  point({ memoryId: 'b', text: 'black tea, tea with milk, in a large cup' }),
  point({ memoryId: 'c', text: 'coffee' }),
  point({ memoryId: 'former', text: 'tea tea tea', live: false }),
];

const theirs = (): IndexPoint[] =>
  ['tea', 'green', 'milk cup'].map((text, i) =>
    point({ memoryId: `other${i}`, text, owner: { kind: 'user', id: 'bob' } }),
  );

/** The ranking of the reference; where others are counted, too, as many hits, all with a term of the question. */
export function expectKeywordRanking(
  hits: readonly IndexHit[],
  asked: { points: readonly IndexPoint[]; query: IndexQuery; statistics: KeywordStatistics },
): void {
  const { points, query, statistics } = asked;
  const names = ranked(hits, 'keywordScore');
  const expected = ranked(scan(points, query), 'keywordScore');
  if (statistics === 'owner') {
    expect(names).toEqual(expected);
    return;
  }
  const sharing = ranked(scan(points, { ...query, limit: points.length }), 'keywordScore');
  expect(names).toHaveLength(expected.length);
  expect(names.filter((name) => !sharing.includes(name))).toEqual([]);
}
