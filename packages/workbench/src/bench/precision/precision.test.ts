import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../chaos/random.ts';
import { drawLife, type Life, type Place } from './life.ts';
import { measuresOf } from './measure.ts';
import { drawQuestions, QUESTIONS_OF_LIFE, type Question, sharedWords } from './questions.ts';
import { WORLDS, type World } from './world.ts';

const drawn = (seed: string, world: World): { life: Life; questions: readonly Question[] } => {
  const random = seededRandom(seed);
  const life = drawLife(seed, random.fork('life'), world);
  return { life, questions: drawQuestions(life, random.fork('questions')) };
};
const drawnOf = (world: World) => Array.from({ length: 60 }, (_, n) => drawn(`life ${n}`, world));

describe.each(Object.entries(WORLDS))('a life of the %s world', (_, world) => {
  const lives = drawnOf(world).map(({ life }) => life);

  test('has more than sixty memories, no two alike, some of them changed, of relatives, or said elsewhere', () => {
    for (const { memories } of lives) {
      expect(memories.length).toBeGreaterThan(60);
      expect(new Set(memories.map(({ text }) => text)).size).toBe(memories.length);
      expect(memories.filter(({ former }) => former !== null).length).toBeGreaterThan(2);
      expect(memories.filter(({ person }) => person.relation !== null).length).toBeGreaterThan(8);
      expect(memories.filter(({ place }) => Object.keys(place).length > 0).length).toBeGreaterThan(4);
    }
  });

  test('follows from its seed, and no other is like it', () => {
    expect(drawn('a', world)).toEqual(drawn('a', world));
    const texts = new Set(drawn('a', world).life.memories.map(({ text }) => text));
    expect(drawn('b', world).life.memories.filter(({ text }) => texts.has(text)).length).toBeLessThan(20);
  });
});

describe.each(Object.entries(WORLDS))('the questions of the %s world', (_, world) => {
  const all = drawnOf(world);
  const asked = all.flatMap(({ questions }) => questions);
  const inPlace = (place: Place, wanted: Place): boolean =>
    Object.entries(wanted).every(([id, value]) => place[id as keyof Place] === value);

  test('have no answer in a third of all cases; half of the others share no word with theirs', () => {
    expect(asked).toHaveLength(all.length * QUESTIONS_OF_LIFE);
    expect(asked.filter(({ relevant }) => relevant.length === 0)).toHaveLength(asked.length / 3);
    const answerable = asked.filter(({ relevant }) => relevant.length > 0);
    const others = answerable.filter((one) =>
      one.relevant.every((memory) => sharedWords(one.text, memory).length === 0),
    );
    expect(others).toHaveLength(answerable.length / 2);
    expect(others.every(({ kind }) => kind === 'other words')).toBe(true);
  });

  test('are answered by what is in the place that is asked for alone, and leave no place in braces', () => {
    for (const { text, place, relevant } of asked) {
      expect(
        relevant.every((memory) => inPlace(memory.place, place)),
        text,
      ).toBe(true);
      expect([text, ...relevant.map((memory) => memory.text)].join()).not.toMatch(/[{}]/);
    }
  });
});

test('figures count what is relevant, what is returned, and answers of nothing', () => {
  const question = { kind: 'same words', text: '', place: {}, relevant: [] } as const;
  const measures = measuresOf([
    { question, relevant: new Set(['a', 'b']), uncut: ['x', 'a', 'b'], shown: ['x', 'a'] },
    { question, relevant: new Set(['c']), uncut: ['c'], shown: ['c', 'y'] },
    { question, relevant: new Set(), uncut: ['x'], shown: [] },
    { question, relevant: new Set(), uncut: ['x'], shown: ['x'] },
  ]);
  expect(measures).toMatchObject({ uncutRecall: 1, recall: 0.75, kept: 0.75, precision: 0.5, abstained: 0.5 });
});

test('no kind of fact is in both worlds', () => {
  const first = new Set(WORLDS.first.frames.map(({ name }) => name));
  expect(WORLDS.second.frames.filter(({ name }) => first.has(name))).toEqual([]);
});
