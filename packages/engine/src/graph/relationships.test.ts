import { describe, expect, it } from 'vitest';
import { areRelated, arityOf, isMutual, kindOf, mayBeOneKind, oppositeOf, relationshipOf } from './relationships.ts';

describe('the words of a relationship', () => {
  it.each([
    ['works_at', 'works_at'],
    ['started working at', 'works_at'],
    ['isEmployedBy', 'works_at'],
    ['WORKS FOR', 'works_at'],
    ['moved-to', 'lives_in'],
    ['has lived in', 'lives_in'],
    ['currently_lives_in', 'lives_in'],
    ['was born in', 'born_in'],
    ['has_sister', 'has_sister'],
    ['is allergic to', 'allergic_to'],
    ['is_training_for', 'training_for'],
    ['喜欢', '喜欢'],
  ])('%s are kept as %s', (words, name) => {
    expect(relationshipOf(words)).toEqual({ name, inverse: false });
  });

  it.each([
    ['employs', 'works_at'],
    ['owned by', 'owns'],
    ['was founded by', 'founded'],
    ['sister_of', 'has_sister'],
  ])('%s name %s from its other end', (words, name) => {
    expect(relationshipOf(words)).toEqual({ name, inverse: true });
  });

  it.each(['', '!!!', '42', `knows ${'very '.repeat(20)}well`])('%j are none', (words) => {
    expect(relationshipOf(words)).toBeNull();
  });

  it('tell how many there can be, and what goes with what', () => {
    expect([arityOf('lives_in'), arityOf('likes'), arityOf('works_at'), arityOf('anything')]).toEqual([
      'one',
      'many',
      'unsure',
      'unsure',
    ]);
    expect([isMutual('married_to'), isMutual('works_at')]).toEqual([true, false]);
    expect([oppositeOf('likes'), oppositeOf('lives_in')]).toEqual(['dislikes', null]);
    expect([areRelated('engaged_to', 'married_to'), areRelated('likes', 'owns')]).toEqual([true, false]);
  });
});

describe('the kind of an entity', () => {
  it.each([
    ['Company', 'organisation'],
    ['cities', 'thing'],
    ['city', 'place'],
    ['dogs', 'animal'],
    ['person', 'person'],
    ['__proto__', 'thing'],
    [null, 'thing'],
  ])('%s is kept as %s', (words, kind) => {
    expect(kindOf(words)).toBe(kind);
  });

  it('may be any where it is vague', () => {
    expect([mayBeOneKind('person', 'person'), mayBeOneKind('thing', 'place'), mayBeOneKind('person', 'place')]).toEqual(
      [true, true, false],
    );
  });
});
