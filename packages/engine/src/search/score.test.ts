import { NOON, indexPoint as point, indexQuery as query } from '@slowwave/engine-testing';
import { array, assert as check, constantFrom, double, integer, nat, option, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HASHED, hashVector, LEARNT } from '../models/vectors.ts';
import { type IndexHit, type ShownPoint, shownPart } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import { type SearchMode, scan } from './hits.ts';
import { type RankQuestion, rank } from './rank.ts';
import { judge, type ScoredHit, scored } from './relevance.ts';

const questionOf = (text: string, given: Partial<RankQuestion> = {}): RankQuestion => ({
  ...{ text, terms: terms(text), mode: 'hybrid', at: NOON, vectors: HASHED },
  ...given,
});

function scoresOf(question: RankQuestion, hits: readonly IndexHit[]): readonly ScoredHit[] {
  const ranked = rank(question, hits);
  return scored(question, ranked, judge(question, ranked));
}

/** What is known, by the builtin vectors; best first. */
function found(text: string, known: readonly string[], mode: SearchMode = 'hybrid'): readonly ScoredHit[] {
  const points = known.map((memory, i) => point({ memoryId: `m${i}`, text: memory, vector: hashVector(memory) }));
  const vector = mode === 'keyword' ? null : hashVector(text);
  const asked = query({ vector, terms: terms(text), limit: 50, visibility: { kind: 'live', now: NOON } });
  return scoresOf(questionOf(text, { mode }), scan(points, asked));
}

const scoreOf = (memory: string, hits: readonly ScoredHit[]): number =>
  hits.find(({ hit }) => hit.point.text === memory)?.score ?? 0;

const KNOWN = [
  'User works as a nurse at Harbour Clinic',
  'User lives in Bergen',
  "User's brother Tom lives in Porto",
  'User has a dog called Rex',
  'User was born on 3 March',
];

describe('the score of an answer among few', () => {
  test.each([
    ['Which pet does she have?', 'User has a dog called Rex'],
    ['What does she do for a living?', 'User works as a nurse at Harbour Clinic'],
    ['Where does her brother live?', "User's brother Tom lives in Porto"],
    ['When is her birthday?', 'User was born on 3 March'],
  ])('to %j is high: %j', (question, memory) => {
    expect(scoreOf(memory, found(question, KNOWN))).toBeGreaterThanOrEqual(0.5);
    expect(scoreOf(memory, found(question, [memory]))).toBeGreaterThanOrEqual(0.5);
  });

  test.each([
    ['Which city was Ann in?', 'Ann was in Rome'],
    ['What happens on Friday?', 'The deploy key rotates every Friday'],
    ['Which version of PostgreSQL does Falcon run?', 'Project Falcon uses PostgreSQL 15'],
  ])('to %j is high by one word: %j', (question, memory) => {
    expect(scoreOf(memory, found(question, [memory]))).toBeGreaterThanOrEqual(0.5);
  });

  test.each([
    ['我养了什么宠物？', '用户养了一只叫小黑的狗'],
    ['我住在哪里？', '用户住在上海'],
    ['Wo wohnt sie?', 'User wohnt in Hamburg'],
  ])('to %j is high: %j', (question, memory) => {
    const known = ['用户养了一只叫小黑的狗', '用户住在上海', 'User wohnt in Hamburg', 'User trinkt gern Tee'];
    expect(scoreOf(memory, found(question, known))).toBeGreaterThanOrEqual(0.5);
  });

  test('by words alone is as high where they are there', () => {
    const hits = found('Where does the user work?', KNOWN, 'keyword');
    expect(scoreOf('User works as a nurse at Harbour Clinic', hits)).toBeGreaterThanOrEqual(0.5);
  });

  test.each([
    'What is her wifi password?',
    'Which insurance does she have?',
    'Which instrument does she play?',
    'What does her sister do for a living?',
    '我会什么乐器？',
    'hello',
  ])('is low where nothing answers: %j', (question) => {
    for (const mode of ['hybrid', 'keyword'] as const)
      expect(Math.max(0, ...found(question, KNOWN, mode).map(({ score }) => score))).toBeLessThan(0.3);
  });

  test('is low for what does not answer, beside what does', () => {
    const [first, ...others] = found('Which pet does she have?', KNOWN);
    expect(first?.hit.point.text).toBe('User has a dog called Rex');
    for (const { score } of others) expect(score).toBeLessThan(0.3);
  });

  test('is the highest for everything, where everything is asked for', () => {
    expect(found('What do you know about me?', KNOWN).map(({ score }) => score)).toEqual(KNOWN.map(() => 1));
  });
});

const hit = (memoryId: string, given: Partial<ShownPoint> = {}, scores: Partial<IndexHit> = {}): IndexHit => ({
  point: shownPart(point({ memoryId, ...given })),
  vectorScore: 0.5,
  keywordScore: 5,
  ...scores,
});

describe('the score', () => {
  test('of a pure vector search is the cosine', () => {
    const hits = [
      hit('a', {}, { vectorScore: 0.4 }),
      hit('b', {}, { vectorScore: 0.6 }),
      hit('c', {}, { vectorScore: -0.1 }),
    ];
    expect(scoresOf(questionOf('tea', { mode: 'vector' }), hits).map(({ score }) => score)).toEqual([0.6, 0.4, 0]);
  });

  test('tells an answer from the best of what does not answer, among many', () => {
    const many = Array.from({ length: 60 }, (_, i) => `User was in town ${i} for a week`);
    const first = (question: string): number => found(question, [...KNOWN, ...many])[0]?.score ?? 0;
    expect(first('Where does her brother Tom live?')).toBeGreaterThan(0.95);
    expect(first('Which insurance covers the broken window of the garage?')).toBeLessThan(0.1);
  });

  test('by the vectors of a model goes by how near the nearest is', () => {
    const first = (nearest: number): number => {
      const hits = Array.from({ length: 40 }, (_, i) =>
        hit(String(i), { text: 'a red car' }, { keywordScore: null, vectorScore: i === 0 ? nearest : (i % 9) / 50 }),
      );
      return scoresOf(questionOf('zeppelin', { vectors: LEARNT }), hits)[0]?.score ?? 0;
    };
    expect(first(0.6)).toBeGreaterThan(0.5);
    expect(first(0.16)).toBeLessThan(0.3);
  });

  test('of what comes before something likelier lies between what both are worth', () => {
    const known = [
      'User works as a nurse at Harbour Clinic',
      'User has a beagle',
      'User makes candles and sells the candles at a stall',
    ];
    const hits = found('What does she make for a living?', known);
    const likelier = hits.map(({ hit: { point: shown } }) => shown.text).indexOf(known[0] ?? '');
    expect(likelier).toBeGreaterThan(0);
    const scores = hits.map(({ score }) => score);
    expect(scores[0]).toBe(scores[likelier]);
  });
});

describe('the scores of any hits', () => {
  const anyHit = record({
    keywordScore: option(double({ min: 0, max: 30, noNaN: true })),
    vectorScore: option(double({ min: -1, max: 1, noNaN: true })),
    text: constantFrom<string>(
      '',
      '?',
      'Ann drinks tea',
      'Bob was in Rome',
      'We planted tomatoes',
      '我喜欢喝茶',
      'a a a',
    ),
    feedback: constantFrom<number>(0, 0, 0, -1, -0.5, 0.5, 1),
    seq: integer({ min: 0, max: 50 }),
  });
  type Given = Partial<IndexHit> & { readonly text: string; readonly feedback: number; readonly seq: number };
  const hitsOf = (given: readonly Given[]): readonly IndexHit[] =>
    given.map(({ text, seq, feedback, ...scores }, i) =>
      hit(`m${i}`, { text, feedback, saidAt: { at: NOON, seq } }, scores),
    );

  const anySearch = record({
    given: array(anyHit, { maxLength: 40 }),
    text: constantFrom(
      '',
      'tea',
      'What does Ann drink?',
      '王芳什么时候喝茶？',
      'Which insurance pays?',
      '🎉',
      'what do you know?',
    ),
    mode: constantFrom<SearchMode>('hybrid', 'keyword', 'vector'),
    vectors: constantFrom(HASHED, LEARNT),
  });

  test('are between 0 and 1 and fall, however the hits are rated', () =>
    check(
      property(anySearch, ({ given, text, ...how }) => {
        const scores = scoresOf(questionOf(text, how), hitsOf(given)).map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
      }),
    ));

  /** Their sums differ in the last digit when they are made in another order. */
  const ALIKE_BUT_FOR_ONE = [0, 0, 7.440364075838005e-150, 0].map((vectorScore, i) => ({
    ...{ keywordScore: null, vectorScore, text: '', feedback: i === 2 ? 0.5 : 0, seq: [0, 1, 1, 2][i] ?? 0 },
  }));

  test('stay what they are where another hit is rated; its own changes by a fifth, or to that of one that it passes', () =>
    check(
      property(anySearch, nat(), ({ given, text, ...how }, chosen) => {
        const rate = (i: number): readonly IndexHit[] =>
          hitsOf(given.map((one, place) => (place === i ? one : { ...one, feedback: 0 })));
        const question = questionOf(text, how);
        const before = scoresOf(question, rate(-1)).map(
          ({ hit: { point: shown }, score }) => [shown.memoryId, score] as const,
        );
        const was = new Map(before);
        for (const { hit: one, score } of scoresOf(question, rate(chosen % given.length))) {
          const { memoryId, feedback = 0 } = one.point;
          const own = was.get(memoryId) ?? 0;
          const rated = how.mode === 'vector' ? own : Math.min(1, own * (1 + 0.2 * feedback));
          const passed = before.flatMap(([id, other]) => (id === memoryId ? [] : [other]));
          if (feedback === 0) expect(score).toBe(own);
          else expect([rated, ...passed]).toContain(score);
        }
      }),
      { examples: [[{ given: ALIKE_BUT_FOR_ONE, text: '', mode: 'hybrid', vectors: LEARNT }, 2]] },
    ));
});
