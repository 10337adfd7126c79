import {
  DEFAULT_TENANT,
  type IndexPoint,
  type LaneId,
  type Owner,
  type SearchIndex,
  SHELVES,
  scan,
  shownPart,
  terms,
} from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { ask, found, NOON, OTHER_TENANT, point, query, ranked } from './search-index-suite-points.ts';
import { expectKeywordRanking, type KeywordStatistics } from './search-index-suite-statistics.ts';

/** How far a score may be from the reference: single precision, several additions. */
const DIGITS = 4;
const LANE = 'lane_of_both' as LaneId;

/** A message as the index has it. */
const message = (given: Partial<IndexPoint> & { readonly memoryId: string }): IndexPoint =>
  point({ shelf: 'messages', speaker: 'Ann', ...given });

/** Memories and messages of one owner, and what a wide question counts. */
export function describeShelves(index: () => SearchIndex, statistics: KeywordStatistics): void {
  describe('shelves', () => {
    test('a question sees what is on its shelf, also where both have the same id', async () => {
      await index().upsert([point({ memoryId: 'a' }), message({ memoryId: 'a', text: 'I drink tea' })]);
      await index().upsert([message({ memoryId: 'b', text: 'tea for two' })]);
      const asked = { terms: ['tea'] };
      expect(await found(index(), asked)).toEqual(['a.1']);
      expect(await found(index(), { ...asked, shelf: 'messages' })).toEqual(['a.1', 'b.1']);
      const [first] = await ask(index(), { ...asked, shelf: 'messages', limit: 1 });
      expect(first?.point).toMatchObject({ shelf: 'messages', speaker: 'Ann' });
    });

    test('shelf and speaker come back as they were given', async () => {
      const given = [message({ memoryId: 'a', speaker: 'Žofie 北京' }), message({ memoryId: 'b', speaker: null })];
      await index().upsert(given);
      const hits = await ask(index(), { shelf: 'messages' });
      expect(hits.map((hit) => hit.point)).toEqual(given.map(shownPart));
    });

    test('each shelf is asked, counted, changed and forgotten by itself, also under the same id', async () => {
      await index().upsert(SHELVES.map((shelf) => point({ shelf, memoryId: 'a', lane: LANE, text: `tea, ${shelf}` })));
      const texts = async () =>
        (await Promise.all(SHELVES.map((shelf) => ask(index(), { shelf, lane: LANE, terms: ['tea'] })))).map((hits) =>
          hits.map((hit) => hit.point.text),
        );
      expect(await texts()).toEqual(SHELVES.map((shelf) => [`tea, ${shelf}`]));
      await index().upsert([point({ shelf: 'relations', memoryId: 'a', lane: LANE, revision: 2, text: 'milk' })]);
      expect((await texts()).at(-1)).toEqual(['milk']);
      expect(await Promise.all(SHELVES.map((shelf) => index().count(DEFAULT_TENANT, shelf)))).toEqual([1, 1, 1, 1]);
      const owner: Owner = { kind: 'user', id: 'ann' };
      expect(await index().forget({ tenant: DEFAULT_TENANT, owner, lane: LANE })).toBe(4);
      expect(await texts()).toEqual([[], [], [], []]);
    });

    test('a relation is seen when it holds, and as of a time when it held', async () => {
      const ended = {
        shelf: 'relations' as const,
        memoryId: 'old',
        live: false,
        validFrom: NOON - 100,
        invalidAt: NOON,
      };
      await index().upsert([point(ended), point({ shelf: 'relations', memoryId: 'new', validFrom: NOON })]);
      const on = { shelf: 'relations' as const };
      expect(await found(index(), on)).toEqual(['new.1']);
      expect(await found(index(), { ...on, visibility: { kind: 'as_of', at: NOON - 50 } })).toEqual(['old.1']);
      expect(await found(index(), { ...on, visibility: { kind: 'as_of', at: NOON } })).toEqual(['new.1']);
    });

    test('an owner of one shelf alone is found there alone', async () => {
      const bob: Owner = { kind: 'user', id: 'bob' };
      await index().upsert([message({ memoryId: 'a' }), point({ memoryId: 'b', owner: bob })]);
      expect(await found(index())).toEqual([]);
      expect(await found(index(), { shelf: 'messages' })).toEqual(['a.1']);
      expect(await found(index(), { owner: bob, shelf: 'messages' })).toEqual([]);
      expect(await found(index(), { owner: bob })).toEqual(['b.1']);
    });

    test('revisions and withdrawals on one shelf are nothing to the other', async () => {
      const [memory, said] = [point({ memoryId: 'a', revision: 5 }), message({ memoryId: 'a' })];
      await index().upsert([memory, said]);
      await index().withdraw([{ ...said, revision: 9 }]);
      expect(await found(index())).toEqual(['a.1']);
      expect(await found(index(), { shelf: 'messages' })).toEqual([]);
      await index().upsert([{ ...memory, revision: 6, text: 'milk' }]);
      expect((await ask(index())).map((hit) => hit.point.text)).toEqual(['milk']);
    });

    if (statistics !== 'collection') {
      test('messages do not move the word statistics of memories', async () => {
        await index().upsert([
          point({ memoryId: 'a', text: 'green tea' }),
          point({ memoryId: 'b', text: 'black tea' }),
        ]);
        const asked = { vector: null, terms: terms('green tea') };
        const before = await ask(index(), asked);
        await index().upsert(['green', 'green grass', 'tea'].map((text) => message({ memoryId: text, text })));
        expect(await ask(index(), asked)).toEqual(before);
      });
    }

    test('memories are counted unless messages are asked for', async () => {
      await index().upsert([point({ memoryId: 'a' }), message({ memoryId: 'b' }), message({ memoryId: 'c' })]);
      await index().upsert([message({ memoryId: 'd', tenant: OTHER_TENANT })]);
      expect(await index().count(DEFAULT_TENANT)).toBe(1);
      expect(await index().count(DEFAULT_TENANT, 'messages')).toBe(2);
      expect(await index().count(OTHER_TENANT)).toBe(0);
      await index().withdraw([message({ memoryId: 'c', revision: 2 })]);
      expect(await index().count(DEFAULT_TENANT, 'messages')).toBe(1);
    });

    test('pages have the points of both', async () => {
      await index().upsert([point({ memoryId: 'a' }), message({ memoryId: 'a' }), message({ memoryId: 'b' })]);
      const { points } = await index().page(null, 10);
      expect(points.map(({ shelf, memoryId }) => `${shelf} ${memoryId}`).sort()).toEqual([
        'memories a',
        'messages a',
        'messages b',
      ]);
    });

    test('a lane is forgotten on both, and what is left stays on its own', async () => {
      const owner: Owner = { kind: 'user', id: 'ann' };
      await index().upsert([point({ memoryId: 'a', lane: LANE }), message({ memoryId: 'b', lane: LANE })]);
      await index().upsert([point({ memoryId: 'c' }), message({ memoryId: 'd' })]);
      expect(await found(index(), { shelf: 'messages', lane: LANE })).toEqual(['b.1']);
      expect(await found(index(), { shelf: 'messages' })).toEqual(['d.1']);
      expect(await index().forget({ tenant: DEFAULT_TENANT, owner, lane: LANE })).toBe(2);
      expect(await found(index(), { terms: ['tea'] })).toEqual(['c.1']);
      expect(await found(index(), { terms: ['tea'], shelf: 'messages' })).toEqual(['d.1']);
    });
  });

  describe('a wide question', () => {
    test('counts the terms of what points came from, a narrow one does not', async () => {
      await index().upsert([
        point({ memoryId: 'own', text: 'Ann drinks tea' }),
        point({ memoryId: 'context', text: 'Ann likes it green', contextTerms: terms('tea from Kyoto') }),
      ]);
      const asked = (text: string, wide: boolean) => found(index(), { vector: null, terms: terms(text), wide });
      expect(await asked('tea', false)).toEqual(['own.1']);
      expect(await asked('tea', true)).toEqual(['context.1', 'own.1']);
      expect(await asked('Kyoto', true)).toEqual(['context.1']);
      expect(await asked('Kyoto', false)).toEqual([]);
    });

    test('context is replaced with its point', async () => {
      await index().upsert([point({ memoryId: 'm', contextTerms: ['kyoto'] })]);
      expect(await found(index(), { vector: null, terms: ['kyoto'], wide: true })).toEqual(['m.1']);
      await index().upsert([point({ memoryId: 'm', revision: 2, contextTerms: ['osaka'] })]);
      expect(await found(index(), { vector: null, terms: ['kyoto'], wide: true })).toEqual([]);
      expect(await found(index(), { vector: null, terms: ['osaka'], wide: true })).toEqual(['m.1']);
    });

    test('a point without a word of its own is found by its context', async () => {
      await index().upsert([point({ memoryId: 'm', text: '👍', terms: [], contextTerms: ['tea'] })]);
      expect(await found(index(), { vector: null, terms: ['tea'], wide: true })).toEqual(['m.1']);
      expect(await found(index(), { vector: null, terms: ['tea'] })).toEqual([]);
    });

    test('both kinds of question rank as by looking at every point', async () => {
      const points = ['green tea', 'black tea', 'milk', 'a cup of green tea with milk'].map((text, i) =>
        point({
          memoryId: `m${i}`,
          text,
          contextTerms: terms(`said about ${i % 2 === 0 ? 'green cups' : 'milk, milk'}`),
        }),
      );
      await index().upsert(points);
      for (const wide of [false, true]) {
        const asked = query({ vector: null, terms: terms('green milk cup'), wide });
        const hits = await ask(index(), asked);
        expectKeywordRanking(hits, { points, query: asked, statistics });
        if (statistics !== 'owner') continue;
        const expected = new Map(scan(points, asked).map((hit) => [hit.point.memoryId, hit.keywordScore ?? -1]));
        for (const { point, keywordScore } of hits) {
          expect(keywordScore).toBeCloseTo(expected.get(point.memoryId) ?? -1, DIGITS);
        }
        expect(ranked(hits, 'keywordScore')).toHaveLength(expected.size);
      }
    });
  });
}
