import { describe, expect, test } from 'vitest';
import { terms } from '../../text/terms.ts';
import { isAboutSelf, mentionsIn, walkPaths, wantedOf, wordingFor } from './question.ts';
import type { SeenRelation } from './read-graph.ts';

const relation = (says: string): SeenRelation => {
  const [source = '', relationship = '', destination = ''] = says.split(' ');
  return {
    ...{ id: says, source, relationship, destination, sourceName: source, destinationName: destination },
    ...{ validFrom: 0, invalidAt: null, saidAt: { at: 0, seq: 1 }, confirmations: 0, memoryIds: [] },
  };
};

const FAMILY = [
  'Bea sister_of Ana',
  'Carl brother_of Ana',
  'Bea works_at Acme',
  'Carl works_at Bolt',
  'Acme makes umbrellas',
  'Bolt makes bicycles',
  'Bolt located_in Oslo',
].map(relation);

const best = (question: string, seed: string, relations: readonly SeenRelation[] = FAMILY): string | undefined => {
  const wanted = wantedOf(terms(question), new Set(terms(seed)));
  const { scores } = walkPaths([{ id: seed, weight: 1, terms: terms(seed) }], relations, {
    wording: wordingFor(wanted),
  });
  return [...scores].sort((a, b) => b[1] - a[1])[0]?.[0];
};

describe('paths through a graph', () => {
  test.each([
    ["what does Ana's sister's employer make?", 'Ana', 'Acme makes umbrellas'],
    ["what does Ana's brother's employer make?", 'Ana', 'Bolt makes bicycles'],
    ["in which city is Ana's brother's company?", 'Ana', 'Bolt located_in Oslo'],
    ['who is the sister of Ana?', 'Ana', 'Bea sister_of Ana'],
    ['where does Bea work?', 'Bea', 'Bea works_at Acme'],
    ['whose brother works at Bolt?', 'Bolt', 'Carl brother_of Ana'],
  ])('%s ends with what answers', (question, seed, answer) => {
    expect(best(question, seed)).toBe(answer);
  });

  test('Chinese words lead the same way', () => {
    expect(best('Ana的妹妹的雇主生产什么？', 'Ana')).toMatch(/makes/);
    expect(best('Bea在哪家公司上班？', 'Bea')).toBe('Bea works_at Acme');
  });

  test('go no further than three relations, and never around in a ring', () => {
    const ring = ['a knows b', 'b knows c', 'c knows a', 'c knows d', 'd knows e', 'e knows f'].map(relation);
    const { scores } = walkPaths([{ id: 'a', weight: 1, terms: [] }], ring, { wording: wordingFor([]) });
    expect([...scores.keys()].sort()).toEqual(['a knows b', 'b knows c', 'c knows a', 'c knows d', 'd knows e']);
  });

  test('nearer relations are worth more where nothing else tells them apart', () => {
    const { scores } = walkPaths([{ id: 'Ana', weight: 1, terms: [] }], FAMILY, { wording: wordingFor(['zebra']) });
    expect(scores.get('Bea sister_of Ana')).toBeGreaterThanOrEqual(scores.get('Acme makes umbrellas') ?? 1);
    expect(walkPaths([], FAMILY, { wording: wordingFor([]) }).scores.size).toBe(0);
  });
});

test.each([
  ['What does Ana’s sister do?', ['ana', 'sister', 'ana’s sister']],
  ["Where do the Bea Linds and Ana's dogs live?", ['bea linds', 'ana', "ana's"]],
  ['Does she work at Acme Corp., or at Node.js?', ['acme corp', 'node.js', 'acme']],
  ['Who shops at McDonald’s?', ['mcdonald’s', 'mcdonald']],
  ['小明的妹妹住在哪里？', ['小明', '妹妹']],
  ['Who is “Ana Lopez”?', ['ana lopez', 'ana', 'lopez']],
])('%s may name %j', (question, names) => {
  const found = mentionsIn(question);
  for (const name of names) expect(found).toContain(name);
});

test('what says nothing names nobody', () => {
  expect(mentionsIn('what was it?')).toEqual([]);
  expect(mentionsIn('')).toEqual([]);
});

test('of a long text only so much is looked up, and fast', () => {
  expect(mentionsIn('word '.repeat(5_000)).length).toBeLessThan(300);
  expect(mentionsIn('北'.repeat(5_000)).length).toBeLessThan(300);
});

test.each([
  ['Where does my sister live?', true],
  ["I'm asking where Ana lives", true],
  ['what does the user like', true],
  ['我妹妹住在哪里', true],
  ['Where is Miami?', false],
  ['Where does Ana live?', false],
])('%s is about who asks: %s', (question, about) => {
  expect(isAboutSelf(question)).toBe(about);
});
