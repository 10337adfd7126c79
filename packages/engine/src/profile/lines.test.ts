import { expect, test } from 'vitest';
import type { Placement } from '../words.ts';
import { linesKept, type Placeable, profileOf } from './lines.ts';
import type { ProfileSlot } from './placement.ts';

const HOME: ProfileSlot = { name: 'home', about: 'Where they live', lines: 1, categories: [] };
const FAMILY: ProfileSlot = { name: 'family', about: 'Relatives', lines: 2, categories: ['family'] };
const SLOTS = [HOME, FAMILY];

interface Fact extends Placeable {
  readonly text: string;
}

const fact = (text: string, at: number, given: Partial<Fact> = {}): Fact => ({
  ...{ text, saidAt: { at, seq: 0 }, category: null, placed: null },
  ...given,
});
const placed = (slot: string, by: Placement['by'] = 'night') => ({ placed: { slot, by } });

const told = (facts: readonly Fact[], slots = SLOTS) =>
  profileOf(facts, slots).map(({ slot, lines, leftOut }) => [
    slot.name,
    lines.map(({ fact: { text }, by }) => `${text} (${by})`),
    leftOut,
  ]);

test('a line stands where somebody put it, else where its category belongs, else under other', () => {
  const facts = [
    fact('lives in Oslo', 1, placed('home')),
    fact('has a brother', 2, { category: 'family' }),
    fact('has a cat', 3, { category: 'family', ...placed('home', 'person') }),
    fact('is 33', 4, { category: 'personal_details' }),
    fact('was in a slot that is gone', 5, placed('former')),
  ];
  expect(told(facts)).toEqual([
    ['home', ['has a cat (person)'], 1],
    ['family', ['has a brother (rule)'], 0],
    ['other', ['was in a slot that is gone (night)', 'is 33 (rule)'], 0],
  ]);
  expect(told(facts, [])).toHaveLength(1);
});

test('of a full slot the lines of people stay, then what was said last', () => {
  const facts = [
    fact('first', 1, { category: 'family' }),
    fact('of a person', 2, placed('family', 'person')),
    fact('last', 3, { category: 'family' }),
  ];
  expect(told(facts)[1]).toEqual(['family', ['of a person (person)', 'last (rule)'], 1]);
  expect(linesKept(facts, SLOTS).map(({ text }) => text)).toEqual(['of a person', 'last']);
});
