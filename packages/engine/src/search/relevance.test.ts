import { NOON, indexPoint as point, indexQuery as query } from '@slowwave/engine-testing';
import { array, assert as check, constantFrom, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HASHED, hashVector, LEARNT, type Vectors } from '../models/vectors.ts';
import { terms } from '../text/terms.ts';
import { type SearchMode, scan } from './hits.ts';
import { type RankedHit, type RankQuestion, rank } from './rank.ts';
import { cutAt, judge, scored } from './relevance.ts';

const LIFE = [
  'User works as a nurse at Harbour Clinic',
  'User lives in Bergen',
  "User's brother Tom lives in Porto",
  'User has a beagle called Biscuit',
  'User takes the number 4 tram to the office',
  'User is allergic to peanuts',
  "User can't stand olives",
  'User is reading Middlemarch',
  'User was born on 3 March',
  'User quit smoking in 2019',
  'User grows tomatoes on the balcony',
  'User is flying to Turin on 2 August',
];

const questionOf = (text: string, mode: SearchMode): RankQuestion => ({
  ...{ text, terms: terms(text), mode, at: NOON, vectors: HASHED },
});

/** All that is found, in its order. */
function found(
  text: string,
  { life = LIFE, mode = 'hybrid' }: { life?: readonly string[]; mode?: SearchMode } = {},
): RankedHit[] {
  const points = life.map((memory, i) => point({ memoryId: `m${i}`, text: memory, vector: hashVector(memory) }));
  const vector = mode === 'keyword' ? null : hashVector(text);
  const asked = query({ vector, terms: terms(text), limit: 50, visibility: { kind: 'live', now: NOON } });
  return rank(questionOf(text, mode), scan(points, asked));
}

const cut = (question: RankQuestion, ranked: readonly RankedHit[]): readonly RankedHit[] => {
  const judged = judge(question, ranked);
  return cutAt(question, scored(question, ranked, judged), judged).kept;
};
const textsOf = (kept: readonly RankedHit[]): string[] => kept.map(({ hit }) => hit.point.text);
const shown = (text: string, given: Parameters<typeof found>[1] = {}): string[] =>
  textsOf(cut(questionOf(text, given.mode ?? 'hybrid'), found(text, given)));

describe('what is relevant', () => {
  test.each([
    ['Where does the user work?', 'User works as a nurse at Harbour Clinic'],
    ['What does she do for a living?', 'User works as a nurse at Harbour Clinic'],
    ['Which pets does he own?', 'User has a beagle called Biscuit'],
    ['Where does his sibling live?', "User's brother Tom lives in Porto"],
    ['When was he born?', 'User was born on 3 March'],
  ])('%j is answered by %j alone', (question, memory) => {
    expect(shown(question)).toEqual([memory]);
  });

  test('the word for the user finds nothing, and who asks for users finds what is about them', () => {
    const table = 'User manages the users table of a database';
    const life = [...LIFE, table];
    expect(shown('users table', { life })).toEqual([table]);
    expect(shown('Which table of users is there?', { life })).toEqual([table]);
    expect(shown('user', { life })).toEqual([table]);
    for (const question of ['What does the user like?', 'Is the user in a choir?', "What is the user's shoe size?"]) {
      expect(shown(question, { life }), question).not.toContain(table);
      expect(shown(question, { life, mode: 'keyword' }), question).not.toContain(table);
    }
  });

  test('a search by words alone is cut as well', () => {
    const question = 'In which town does she live?';
    expect(found(question, { mode: 'keyword' }).length).toBeGreaterThan(1);
    expect(shown(question, { mode: 'keyword' })).toEqual(['User lives in Bergen']);
  });

  test.each(['Which instrument does she play?', 'Which insurance does he have?', 'What is her wifi password?'])(
    '%j is answered by nothing',
    (question) => {
      expect(found(question).length).toBeGreaterThan(0);
      expect(shown(question)).toEqual([]);
    },
  );

  test('of what no topic is known of the words decide', () => {
    const life = [...LIFE, 'The quaternion overflows at frame 900', 'The gimbal locks at 90 degrees'];
    expect(shown('Where does the quaternion overflow?', { life })).toEqual(['The quaternion overflows at frame 900']);
    expect(shown('hello', { life })).toEqual([]);
  });

  test.each([
    ['Which city was Ann in?', 'Ann was in Rome'],
    ['What happens on Friday?', 'The deploy key rotates every Friday'],
    ['Which editor do I use?', 'User uses vim and hates tabs'],
    ['Which month was the boiler fixed?', 'Bob repaired the boiler in March'],
    ['Which version of PostgreSQL does Falcon run?', 'Project Falcon uses PostgreSQL 15'],
  ])('%j finds %j by a word, where little else is known', (question, memory) => {
    expect(shown(question, { life: [memory] })).toEqual([memory]);
    expect(shown(question, { life: [memory, "User can't stand olives", 'User is allergic to peanuts'] })).toEqual([
      memory,
    ]);
  });

  test.each(['What is the wifi password?', 'Does the user own a car?', "What is Ann's brother's car?", 'hello'])(
    '%j finds nothing among few, whose words it does not have or who are others',
    (question) => {
      expect(shown(question, { life: ['User plays the cello', 'Ann was in Rome'] })).toEqual([]);
    },
  );

  test('what names whom a question is about is not what it asks', () => {
    const hers = [
      'sails to Skye in June',
      'grows leeks',
      'keeps the thermostat at 19 degrees',
      'has a scar on the chin',
    ];
    const life = [...LIFE, ...hers.map((told) => `User's wife Aroha ${told}`)];
    expect(shown('Where does my wife Aroha sail in June?', { life })).toEqual([
      "User's wife Aroha sails to Skye in June",
    ]);
    expect(shown('What did my wife Aroha catch off the pier?', { life })).toEqual([]);
    expect(shown('What does my wife Aroha grow?', { life })).toEqual(["User's wife Aroha grows leeks"]);
  });

  test('words that only ask are not looked for', () => {
    expect(shown('What do you know about Tom?')).toEqual(["User's brother Tom lives in Porto"]);
    expect(shown('Tell me what happened in 2019')).toEqual(['User quit smoking in 2019']);
    expect(shown('Do you remember where I work?')).toEqual(['User works as a nurse at Harbour Clinic']);
  });

  test('who asks for nothing in particular is shown everything', () => {
    expect(shown('What do you know about me?')).toHaveLength(LIFE.length);
    expect(shown('Tell me everything')).toHaveLength(LIFE.length);
  });

  test('what says the same is shown twice at most, and two that differ in a word are not the same', () => {
    const same = [
      'User has a beagle called Biscuit',
      'User has the beagle called Biscuit',
      'A beagle called Biscuit she has',
    ];
    expect(shown('Which dog called Biscuit?', { life: [...same, ...LIFE.slice(4)] })).toHaveLength(2);
    const unlike = ['Biscuit', 'Olga', 'Pickle'].map((name) => `User has a beagle called ${name}`);
    expect(shown('Which pets does he own?', { life: [...unlike, ...LIFE.slice(4)] })).toHaveLength(3);
  });

  test.each([
    ['Which conveyance gets him downtown?', { 'User takes the number 4 tram to the office': 0.46 }],
    ['What did he give up?', { 'User quit smoking in 2019': 0.5, 'User lives in Bergen': 0.2 }],
    ['What is her wifi password?', { 'User lives in Bergen': 0.1 }],
  ])(
    '%j is answered alike by a model whose cosines are all high',
    (question, near: Readonly<Record<string, number>>) => {
      const shownBy = (vectors: Vectors, cosine: (plain: number) => number): string[] => {
        const asked = { ...questionOf(question, 'hybrid'), vectors };
        const hits = found(question).map(({ hit }, i) => ({
          ...hit,
          vectorScore: cosine(near[hit.point.text] ?? (i % 5) / 50),
        }));
        return textsOf(cut(asked, rank(asked, hits)));
      };
      const high = (plain: number): number => 0.75 + 0.2 * plain;
      const { apart, apartMost, answer } = LEARNT.questions;
      const questions = { apart: high(apart), apartMost: high(apartMost), answer: high(answer) };
      expect(shownBy({ ...LEARNT, questions }, high)).toEqual(shownBy(LEARNT, (plain) => plain));
      expect(shownBy(LEARNT, (plain) => plain)).toEqual(Object.keys(near).filter((text) => (near[text] ?? 0) > 0.4));
    },
  );

  test('a pure vector search is not cut: its cosines are compared with a threshold', () => {
    const all = found('Which instrument does she play?', { mode: 'vector' });
    expect(textsOf(cut(questionOf('Which instrument does she play?', 'vector'), all))).toEqual(textsOf(all));
  });

  test('is some of what was found, in the same order, whatever is asked of whatever', () => {
    const words = constantFrom('', '?', 'tea', 'who', '🎉', '我喜欢喝茶', 'her brother', 'a '.repeat(500), ...LIFE);
    const given = array(words, { maxLength: 12 });
    return check(
      property(given, words, constantFrom<SearchMode>('hybrid', 'keyword', 'vector'), (life, question, mode) => {
        const all = found(question, { life, mode });
        const some = cut(questionOf(question, mode), all).map(({ hit }) => hit);
        expect(all.map(({ hit }) => hit).filter((hit) => some.includes(hit))).toEqual(some);
      }),
    );
  });
});
