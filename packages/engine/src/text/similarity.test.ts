import { describe, expect, test } from 'vitest';
import { containment, overlap, termSet } from './terms.ts';

describe('overlap', () => {
  test('the same in other words of the same stems is 1', () => {
    expect(overlap('Ann likes the teas', 'Ann liked tea!')).toBe(1);
  });

  test('nothing shared is 0', () => {
    expect(overlap('Ann likes tea', 'Bob plays chess')).toBe(0);
  });

  test('it is the shared part of all terms, whichever text comes first', () => {
    expect(overlap('Ann likes tea', 'Ann likes coffee')).toBe(0.5);
    expect(overlap('Ann likes coffee', 'Ann likes tea')).toBe(0.5);
  });

  test('prepared terms give the same answer as the text', () => {
    expect(overlap(termSet('Ann likes tea'), 'Ann likes coffee')).toBe(0.5);
  });

  test('texts without terms are alike only if they are equal', () => {
    expect(overlap('not me!', 'Not me')).toBe(1);
    expect(overlap('??', '!!')).toBe(0);
    expect(overlap('', 'tea')).toBe(0);
  });
});

describe('containment', () => {
  test('a fact inside a longer message is contained in full', () => {
    expect(containment('likes green tea', 'Well, I really like drinking green tea at night')).toBe(1);
    expect(containment('Well, I really like drinking green tea at night', 'likes green tea')).toBeLessThan(1);
  });

  test('it is the part of the first that the second says', () => {
    expect(containment('Ann likes tea milk', 'milk and tea')).toBe(0.5);
  });
});
