import { hashVector, type IndexPoint, type SearchIndex, scan, terms } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { ask, foundBy, NOON, point, query, ranked, SUITE_SPACE } from './search-index-suite-points.ts';
import { expectKeywordRanking, type KeywordStatistics } from './search-index-suite-statistics.ts';

/** How far a score may be from the reference: single precision, several additions. */
const DIGITS = 4;

/** Which points are best, and their raw scores. */
export function describeRanking(index: () => SearchIndex, statistics: KeywordStatistics): void {
  describe('the vector leg', () => {
    test('its score is the cosine, whatever the length of the vectors', async () => {
      await index().upsert([
        point({ memoryId: 'same', vector: Float32Array.of(3, 0, 0, 0) }),
        point({ memoryId: 'slanted', vector: Float32Array.of(3, 4, 0, 0) }),
        point({ memoryId: 'opposite', vector: Float32Array.of(-1, 0, 0, 0) }),
      ]);
      const hits = await ask(index(), { vector: Float32Array.of(2, 0, 0, 0) });
      const scores = Object.fromEntries(hits.map((hit) => [hit.point.memoryId, hit.vectorScore]));
      expect(scores.same).toBeCloseTo(1, DIGITS);
      expect(scores.slanted).toBeCloseTo(0.6, 2); // in 8 bits
      expect(scores.opposite).toBeCloseTo(-1, DIGITS);
      expect(hits.every((hit) => hit.keywordScore === null)).toBe(true);
    });
  });

  describe('the keyword leg', () => {
    test('it finds what shares a term, and nothing else', async () => {
      await index().upsert([
        point({ memoryId: 'tea', text: 'Ann drinks green tea' }),
        point({ memoryId: 'milk', text: 'Ann drinks milk' }),
      ]);
      expect(await foundBy(index(), 'teas')).toEqual(['tea.1']);
      expect(await foundBy(index(), 'drinking')).toEqual(['milk.1', 'tea.1']);
      expect(await foundBy(index(), 'coffee')).toEqual([]);
      expect(await foundBy(index(), 'the and of')).toEqual([]);
    });

    test('two-character Chinese words are found inside longer texts', async () => {
      await index().upsert([
        point({ memoryId: 'beijing', text: '我在北京大学读书' }),
        point({ memoryId: 'tokyo', text: '明年去东京旅行' }),
      ]);
      const hits = await ask(index(), { vector: null, terms: terms('北京') });
      expect(ranked(hits, 'keywordScore')[0]).toBe('beijing.1');
      expect(await foundBy(index(), '旅行')).toEqual(['tokyo.1']);
    });

    test('no text of a question can do harm', async () => {
      await index().upsert([point({ memoryId: 'm', text: 'It\'s C++, isn\'t it? NEAR* "quotes"' })]);
      for (const text of ["it's", '*', '"', "';--", 'AND OR NOT', '(', '^', 'm:', '\u0000', '{', '%', '\\', '-tea']) {
        expect(await foundBy(index(), text)).toEqual([]);
      }
      expect(await foundBy(index(), 'C++')).toEqual(['m.1']);
      expect(await foundBy(index(), 'NEAR*')).toEqual(['m.1']);
      expect(await foundBy(index(), '"quotes')).toEqual(['m.1']);
    });
  });

  describe('both legs', () => {
    test('each gives its best, and what one of them found is scored by both', async () => {
      await index().upsert([
        point({ memoryId: 'word', text: 'tea', vector: Float32Array.of(0, 0, 1, 0) }),
        point({ memoryId: 'near', text: 'milk', vector: Float32Array.of(1, 0.1, 0, 0) }),
        point({ memoryId: 'both', text: 'tea and milk and bread', vector: Float32Array.of(1, 1, 0, 0) }),
      ]);
      const hits = await ask(index(), { terms: ['tea'], limit: 1 });
      expect(hits.map((hit) => hit.point.memoryId).sort()).toEqual(['near', 'word']);
      expect(ranked(hits, 'vectorScore')).toEqual(['near.1', 'word.1']);
      expect(ranked(hits, 'keywordScore')).toEqual(['word.1']);
      const words = await ask(index(), { terms: ['milk', 'bread'], limit: 1 });
      expect(ranked(words, 'vectorScore')).toEqual(['near.1', 'both.1']);
      expect(ranked(words, 'keywordScore')).toEqual(['both.1', 'near.1']);
      const all = await ask(index(), { terms: ['tea'], limit: 3 });
      expect(ranked(all, 'vectorScore')).toEqual(['near.1', 'both.1', 'word.1']);
      expect(ranked(all, 'keywordScore')).toEqual(['word.1', 'both.1']);
    });

    test('among equal scores the lower memory id wins, then the lower version', async () => {
      const names = ['m3.1', 'm1.10', 'm2.1', 'm1.9', 'm4.1'];
      await index().upsert(
        names.map((name) => point({ memoryId: name.split('.')[0] ?? '', version: Number(name.split('.')[1]) })),
      );
      const hits = await ask(index(), { terms: ['tea'], limit: 3 });
      expect(hits.map((hit) => `${hit.point.memoryId}.${hit.point.version}`).sort()).toEqual(['m1.10', 'm1.9', 'm2.1']);
      expect(hits.every((hit) => hit.vectorScore !== null && hit.keywordScore !== null)).toBe(true);
    });

    test('a question without vector, terms or room for hits finds nothing', async () => {
      await index().upsert([point({ memoryId: 'm' })]);
      expect(await ask(index(), { vector: null, terms: null })).toEqual([]);
      expect(await ask(index(), { vector: null, terms: [] })).toEqual([]);
      expect(await ask(index(), { terms: ['tea'], limit: 0 })).toEqual([]);
      expect(await index().search([])).toEqual([]);
    });

    test('many questions of several owners are answered in their order', async () => {
      const people = ['ann', 'bob', 'cleo'].map((id) => ({ kind: 'user' as const, id }));
      await index().upsert(people.map((owner) => point({ memoryId: `of-${owner.id}`, owner })));
      const asked = [2, 0, 1, 0, 2, 2].map((i) => people[i] ?? { kind: 'user' as const, id: 'nobody' });
      const answers = await index().search(asked.map((owner) => query({ owner, terms: ['tea'] })));
      expect(answers.map((hits) => hits.map((hit) => hit.point.memoryId))).toEqual(asked.map(({ id }) => [`of-${id}`]));
    });

    test('a larger set is ranked as by looking at every point', async () => {
      const points = manyPoints();
      for (let i = 0; i < points.length; i += 50) await index().upsert(points.slice(i, i + 50));
      const asked = ['green tea in Paris', 'black milk', '北京的茶', 'nothing of that'].map((text) =>
        query({
          vector: hashVector(text, SUITE_SPACE.dimensions),
          terms: terms(text),
          limit: 7,
          visibility: { kind: 'live_or_said_after', after: { at: NOON, seq: 100 } },
        }),
      );
      const answers = await index().search(asked);
      for (const [i, one] of asked.entries()) {
        const hits = answers[i] ?? [];
        expect(ranked(hits, 'vectorScore')).toEqual(ranked(scan(points, one), 'vectorScore'));
        expectKeywordRanking(hits, { points, query: one, statistics });
      }
    });
  });
}

/** Points of all kinds, the same in every run. */
function manyPoints(): IndexPoint[] {
  const drinks = ['green tea', 'black tea', 'milk', 'coffee', '绿茶', '水'];
  const places = ['Paris', 'Berlin', '北京', 'the garden', 'a small café by the river'];
  return Array.from({ length: 180 }, (_, i) => {
    const text = `Person ${i % 17} drinks ${drinks[i % 6]} in ${places[i % 5]} ${i % 4 === 0 ? 'with friends' : ''}`;
    return point({
      memoryId: `m${String((i * 7) % 180).padStart(3, '0')}`,
      text,
      vector: hashVector(`${text} ${i}`, SUITE_SPACE.dimensions),
      live: i % 3 !== 0,
      saidAt: { at: NOON, seq: i },
    });
  });
}
