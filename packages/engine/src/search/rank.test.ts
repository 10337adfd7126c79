import { NOON, indexPoint as point } from '@slowwave/engine-testing';
import { array, assert as check, constantFrom, double, integer, option, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HASHED, LEARNT } from '../models/vectors.ts';
import { type IndexHit, type ShownPoint, shownPart } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import { FACTORS, type FactorName, nameOfHit, type RankQuestion, rank, rankBy } from './rank.ts';
import { cutAt, judge, scored } from './relevance.ts';

const DAY = 86_400_000;

const hit = (memoryId: string, given: Partial<ShownPoint> = {}, scores: Partial<IndexHit> = {}): IndexHit => ({
  point: shownPart(point({ memoryId, ...given })),
  vectorScore: 0.5,
  keywordScore: 5,
  ...scores,
});

const asked = (text: string, given: Partial<RankQuestion> = {}): RankQuestion => ({
  text,
  terms: terms(text),
  mode: 'hybrid',
  at: NOON,
  vectors: HASHED,
  ...given,
});

const idsOf = (ranked: readonly { readonly hit: IndexHit }[]): string[] =>
  ranked.map(({ hit: { point: shown } }) => shown.memoryId);

const by = (factor: FactorName, text: string, hits: readonly IndexHit[]): string[] =>
  idsOf(rankBy([factor], asked(text), hits));

describe('the order of hits', () => {
  test('words count more than nearness, and both count', () => {
    const hits = [hit('words', {}, { vectorScore: 0.1 }), hit('near', {}, { keywordScore: 2 }), hit('both')];
    expect(idsOf(rankBy([], asked('tea'), hits))).toEqual(['both', 'words', 'near']);
  });

  test('with learnt vectors nearness counts for more', () => {
    const hits = [hit('words', {}, { vectorScore: 0.1 }), hit('near', {}, { keywordScore: 2, vectorScore: 1 })];
    expect(idsOf(rankBy([], asked('tea'), hits))).toEqual(['words', 'near']);
    const learnt = asked('tea', { vectors: LEARNT });
    const [first, second] = rankBy([], learnt, hits);
    expect((second?.relative ?? 0) / (first?.relative ?? 1)).toBeGreaterThan(0.9);
  });

  test('a leg that was left out or found nothing leaves the whole score to the other', () => {
    const hits = [hit('a', {}, { vectorScore: null, keywordScore: 2 }), hit('b', {}, { vectorScore: null })];
    expect(idsOf(rank(asked('tea'), hits))).toEqual(['b', 'a']);
    const near = [hit('a', {}, { keywordScore: null, vectorScore: 0.2 }), hit('b', {}, { keywordScore: null })];
    expect(idsOf(rank(asked('tea'), near))).toEqual(['b', 'a']);
    expect(idsOf(rank(asked('tea', { mode: 'keyword' }), near))).toEqual([]);
  });

  test('a pure vector search is ordered by the vectors alone', () => {
    const hits = [hit('a', { speaker: 'Ann' }, { vectorScore: 0.4 }), hit('b', {}, { vectorScore: 0.6 })];
    expect(idsOf(rank(asked('What did Ann say?', { mode: 'vector' }), hits))).toEqual(['b', 'a']);
  });

  test('of two who talk about it the one that the question names comes first', () => {
    const hits = [
      hit('bob', { text: 'Hey Ann, nice tea!', speaker: 'Bob' }),
      hit('ann', { text: 'I like tea.', speaker: 'Ann' }, { keywordScore: 4 }),
    ];
    expect(by('speaker', 'What does Ann like?', hits)).toEqual(['ann', 'bob']);
    expect(by('speaker', 'What do Ann and Bob like?', hits)).toEqual(['bob', 'ann']);
  });

  test('a person is named by the first name, and a Chinese one by the whole name', () => {
    const hits = [hit('a', { speaker: 'Bob' }), hit('b', { speaker: 'Ann Lee' }), hit('c', { speaker: '王芳' })];
    expect(by('speaker', 'Where is Ann?', hits)[0]).toBe('b');
    expect(by('speaker', '王芳住在哪里？', hits)[0]).toBe('c');
    expect(by('speaker', '王先生住在哪里？', hits)[0]).toBe('a');
  });

  test('who has something comes before whose sister or neighbour has it', () => {
    const hits = [
      hit('1', { text: 'Ann’s sister has a dog.' }),
      hit('2', { text: 'The neighbour of Ann has a dog.' }),
      hit('3', { text: 'Ann, do you have a dog?' }),
      hit('4', { text: 'Ann has a dog.' }),
    ];
    expect(by('subject', 'What does Ann have?', hits)[0]).toBe('4');
    expect(by('subject', 'What does the sister of Ann have?', hits).slice(0, 2)).toEqual(['1', '4']);
    const chinese = [
      hit('1', { text: '王芳的妹妹养了狗' }),
      hit('2', { text: '王芳，你养狗吗' }),
      hit('3', { text: '王芳养了狗' }),
    ];
    expect(by('subject', '王芳养了什么？', chinese)).toEqual(['3', '1', '2']);
    expect(by('subject', '王芳的妹妹养了什么？', chinese).slice(0, 2)).toEqual(['1', '3']);
  });

  test.each(['Do you like tea?', 'Tea? 😊', '“Tea?”', '你喜欢茶吗？', 'Tea?\n[image: a cup of tea]'])(
    'what asks itself (%j) comes after what tells',
    (text) => {
      expect(by('asking', 'tea', [hit('a', { text }), hit('b', { text: 'I like tea.' })])).toEqual(['b', 'a']);
    },
  );

  test('what is about what is asked for comes first, though it shares no word', () => {
    const hits = [hit('1', { text: 'Ann likes tea.' }), hit('2', { text: 'Ann has a beagle.' })];
    expect(by('topics', 'Which pets are there?', hits)).toEqual(['2', '1']);
    expect(by('topics', 'Which of these?', hits)).toEqual(['1', '2']);
  });

  test('what tells of a time comes first where a time is asked for', () => {
    const hits = [
      hit('a', { text: 'I ran.' }),
      hit('b', { text: 'I ran last week.' }),
      hit('c', { text: '上周我跑步了' }),
    ];
    expect(by('time', 'When did she run?', hits)).toEqual(['b', 'c', 'a']);
    expect(by('time', '她什么时候跑步？', hits)).toEqual(['b', 'c', 'a']);
    expect(by('time', 'Where did she run?', hits)).toEqual(['a', 'b', 'c']);
  });

  test('what shares rare words with the best hits rises', () => {
    const hits = [
      hit('1', { text: 'We planted tomatoes in the allotment.' }, { keywordScore: 9 }),
      hit('2', { text: 'The allotment is by the river.' }, { keywordScore: 8 }),
      hit('3', { text: 'Seeds come up in spring.' }, { keywordScore: 7 }),
      hit('4', { text: 'A film about a dog.' }, { keywordScore: 3 }),
      hit('5', { text: 'Our allotment has a shed.' }, { keywordScore: 2.9 }),
    ];
    expect(by('shared', 'what grows', hits)).toEqual(['1', '2', '3', '5', '4']);
  });

  test('what was said beside a good hit rises, what was said another day does not', () => {
    const hits = [
      hit('good', { saidAt: { at: NOON, seq: 10 } }, { keywordScore: 9 }),
      hit('a', { saidAt: { at: NOON - 9 * DAY, seq: 9 } }),
      hit('b', { saidAt: { at: NOON, seq: 12 } }),
      hit('c', { saidAt: { at: NOON, seq: 40 } }),
    ];
    expect(by('sitting', 'tea', hits)).toEqual(['good', 'b', 'c', 'a']);
  });

  test('of equal ones the newest comes first, then the more often said, then by id', () => {
    const old = { at: NOON - 400 * DAY, seq: 1 };
    const hits = [
      hit('b', { saidAt: old }),
      hit('a', { saidAt: old }),
      hit('often', { saidAt: old, confirmations: 3 }),
      hit('new', { saidAt: { at: NOON, seq: 2 } }),
    ];
    const order = (of: readonly IndexHit[]): string[] => idsOf(rankBy(['freshness'], asked('tea'), of));
    expect(order(hits)).toEqual(['new', 'often', 'a', 'b']);
    expect(order([...hits].reverse())).toEqual(['new', 'often', 'a', 'b']);
  });

  test('what a memory says now comes before what it once said, also where that fits a little better', () => {
    const once = { version: 1, live: false, text: 'I live in Oslo.' };
    const now = { version: 2, text: 'I live in Bergen.' };
    const hits = [hit('home', once, { keywordScore: 5.2 }), hit('home', now), hit('other', once)];
    const ranked = rankBy(['freshness'], asked('Oslo'), hits);
    expect(ranked.map(({ hit: { point: shown } }) => [shown.memoryId, shown.version])).toEqual([
      ['home', 2],
      ['other', 1],
      ['home', 1],
    ]);
  });

  test('a change that was to come when it was said comes before what it changed, once it has come', () => {
    const once = { version: 1, text: 'I live in Oslo.', invalidAt: NOON - DAY };
    const now = { version: 2, text: 'I live in Bergen.', validFrom: NOON - DAY, shownFrom: NOON - DAY };
    const ranked = rankBy(['freshness'], asked('Oslo'), [hit('home', once, { keywordScore: 5.2 }), hit('home', now)]);
    expect(ranked.map(({ hit: { point: shown } }) => shown.version)).toEqual([2, 1]);
  });

  test('neither the newest nor the most often said comes before what fits clearly better', () => {
    const fits = hit('fits', { saidAt: { at: NOON - 900 * DAY, seq: 1 } }, { keywordScore: 5.3 });
    const often = hit('often', { saidAt: { at: NOON, seq: 9_000 }, confirmations: 1_000 }, { keywordScore: 5 });
    expect(by('freshness', 'tea', [often, fits])).toEqual(['fits', 'often']);
  });
});

describe('any hits', () => {
  const anyHit = record({
    id: integer({ min: 0, max: 30 }),
    keywordScore: option(double({ min: 0, max: 30, noNaN: true })),
    vectorScore: option(double({ min: -1, max: 1, noNaN: true })),
    text: constantFrom(
      '',
      '?',
      'Ann drinks tea',
      '👩‍👩‍👧 🎉',
      'const a = (b) => b?.c;',
      '我喜欢喝茶',
      'a '.repeat(3_000),
    ),
    speaker: constantFrom(null, 'Ann', 'Bob', '', '王芳'),
    at: integer({ min: 0, max: NOON * 2 }),
    seq: integer({ min: 0, max: 50 }),
  });
  const anyQuestion = constantFrom(
    '',
    'tea',
    'When did Ann drink tea?',
    '王芳什么时候喝茶？',
    '🎉',
    '((("',
    'tea '.repeat(5_000),
  );

  test('are all there once, the best fitting first, the same in any order of coming', async () => {
    await check(
      property(array(anyHit, { maxLength: 40 }), anyQuestion, constantFrom(HASHED, LEARNT), (given, text, vectors) => {
        const hits = [...new Map(given.map((one) => [one.id, one])).values()]
          .map(({ id, text: said, speaker, at, seq, ...scores }) =>
            hit(String(id), { text: said, speaker, saidAt: { at, seq } }, scores),
          )
          .filter(({ keywordScore, vectorScore }) => keywordScore !== null || vectorScore !== null);
        const ranked = rank(asked(text, { vectors }), hits);
        expect(idsOf(ranked).sort()).toEqual(hits.map(({ point: shown }) => shown.memoryId).sort());
        const fits = ranked.map(({ relative }) => relative);
        expect(fits).toEqual([...fits].sort((a, b) => b - a));
        expect(fits.every((fit) => fit >= 0 && fit <= 1)).toBe(true);
        expect(idsOf(rank(asked(text, { vectors }), [...hits].reverse()))).toEqual(idsOf(ranked));
      }),
    );
  });

  test('without hits there is nothing to order', () => {
    expect(rank(asked(''), [])).toEqual([]);
  });
});

describe('ratings', () => {
  const thought = (feedback: number, one: IndexHit): IndexHit => ({ ...one, point: { ...one.point, feedback } });
  const order = (...hits: IndexHit[]): string[] => idsOf(rank(asked('tea'), hits));

  test('of what fits about equally well the better rated comes first', () => {
    const [one, other] = [hit('1', {}, { keywordScore: 5.2 }), hit('2', {}, { keywordScore: 5 })];
    expect(order(one, other)).toEqual(['1', '2']);
    expect(order(one, thought(0.5, other))).toEqual(['2', '1']);
    expect(order(thought(-1, one), other)).toEqual(['2', '1']);
    expect(by('feedback', 'tea', [one, thought(0.5, other)])).toEqual(['2', '1']);
  });

  test('what fits clearly better stays first, whatever is thought of both', () => {
    const [clear, poor] = [hit('1', {}, { keywordScore: 9 }), hit('2', {}, { keywordScore: 3, vectorScore: 0.2 })];
    expect(order(thought(-1, clear), thought(1, poor))).toEqual(['1', '2']);
  });

  test('say nothing of what is not rated: it fits as it did', () => {
    const hits = [
      hit('1', {}, { keywordScore: 9 }),
      hit('2', {}, { keywordScore: 6 }),
      hit('3', {}, { keywordScore: 3 }),
    ];
    const fits = (of: readonly IndexHit[]) =>
      new Map(rank(asked('tea'), of).map((one) => [one.hit.point.memoryId, one.relative]));
    const [before, after] = [fits(hits), fits(hits.map((one, i) => (i === 0 ? thought(-1, one) : one)))];
    expect([after.get('2'), after.get('3')]).toEqual([before.get('2'), before.get('3')]);
    expect(after.get('1')).toBeCloseTo(0.8 * (before.get('1') ?? 0));
  });

  test('are not asked of a pure vector search', () => {
    const hits = [thought(-1, hit('1', {}, { vectorScore: 0.6 })), thought(1, hit('2', {}, { vectorScore: 0.59 }))];
    expect(idsOf(rank(asked('tea', { mode: 'vector' }), hits))).toEqual(['1', '2']);
  });

  const anyRated = record({
    keywordScore: double({ min: 0, max: 30, noNaN: true }),
    vectorScore: double({ min: -1, max: 1, noNaN: true }),
    text: constantFrom(
      'Ann drinks tea',
      'Ann drinks green tea',
      'Bob was in Rome',
      'We planted tomatoes',
      'Tea is grown',
    ),
    feedback: double({ min: -1, max: 1, noNaN: true }),
  });
  const anyLife = array(anyRated, { minLength: 1, maxLength: 30 });
  /** The same hits, unrated and rated. */
  const lives = (given: readonly { readonly feedback: number; readonly text: string }[]) => {
    const unrated = given.map(({ text, feedback: _, ...scores }, i) => hit(`m${i}`, { text: `${text} ${i}` }, scores));
    return { unrated, rated: unrated.map((one, i) => thought(given[i]?.feedback ?? 0, one)) };
  };
  const anyQuestion = constantFrom('What does Ann drink?', 'tea', 'Where was Bob?', 'Which insurance pays?');

  test('of any hits move each by a fifth at most, and nothing else', async () => {
    await check(
      property(anyLife, anyQuestion, constantFrom(HASHED, LEARNT), (given, text, vectors) => {
        const { unrated, rated } = lives(given);
        const before = new Map(rank(asked(text, { vectors }), unrated).map((one) => [nameOfHit(one.hit), one]));
        const after = rank(asked(text, { vectors }), rated);
        for (const [place, { hit: one, relative, unrated: own }] of after.entries()) {
          const was = before.get(nameOfHit(one));
          const factor = 1 + 0.2 * (one.point.feedback ?? 0);
          expect(relative).toBeCloseTo(Math.min(1, (was?.relative ?? 0) * factor), 9);
          expect(own).toEqual(was?.unrated);
          for (const behind of after.slice(place + 1))
            expect(before.get(nameOfHit(behind.hit))?.relative ?? 0).toBeLessThanOrEqual(
              (was?.relative ?? 0) * 1.5 + 1e-9,
            );
        }
      }),
    );
  });

  test('of any hits leave it to the question what is returned', async () => {
    await check(
      property(anyLife, anyQuestion, constantFrom(HASHED, LEARNT), (given, text, vectors) => {
        const { unrated, rated } = lives(given.slice(0, 12));
        const kept = (hits: readonly IndexHit[]) => {
          const question = asked(text, { vectors });
          const ranked = rank(question, hits);
          const judged = judge(question, ranked);
          const { by: how, kept: shown } = cutAt(question, scored(question, ranked, judged), judged);
          return { how, shown: idsOf(shown).sort() };
        };
        expect(kept(rated)).toEqual(kept(unrated));
      }),
    );
  });
});

test('each factor has a test of its own above', () => {
  expect([...FACTORS]).toEqual([
    'speaker',
    'subject',
    'topics',
    'asking',
    'time',
    'shared',
    'sitting',
    'freshness',
    'feedback',
  ]);
});
