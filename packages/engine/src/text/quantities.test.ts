import { processorMs } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { claimedIn, hasNumber, quantitiesIn } from './quantities.ts';

/** The numbers of a claim that a text does not say. */
const unsaid = (claim: string, said: string): readonly number[] =>
  claimedIn(claim)
    .numbers.filter((number) => !hasNumber(quantitiesIn(said).numbers, number))
    .map(({ whole }) => whole);

describe('numbers however they are written', () => {
  it.each([
    ['60,000 a year', '60k a year'],
    ['1,500,000', '1.5 million'],
    ['IBAN 12345678901234567890', 'my IBAN is 12345678901234567890'],
  ])('%s is said by %s', (claim, said) => {
    expect(unsaid(claim, said)).toEqual([]);
  });

  it.each([
    ['60 km', '6 km'],
    ['1,250', '1.5 k'],
    ['ID 12345678901234567890', 'my ID is 12345678901239999999'],
  ])('%s is not said by %s', (claim, said) => {
    expect(unsaid(claim, said)).not.toEqual([]);
  });
});

describe('a text of nothing but digits', () => {
  const LENGTH = 60_000;
  const filled = (piece: string): string => piece.repeat(LENGTH / piece.length);
  /** The best of some: the first ones are compiled, too. */
  const taken = (text: string): number =>
    Math.min(...Array.from({ length: 3 }, () => processorMs(() => void quantitiesIn(text))));

  it.each(['0', '7'.repeat(999).concat('\n'), '1.', '1,1', '2020-', '12:', '1/2/', '一', '十万', '9 ', '2020年', '1e'])(
    'of %j over and over takes some times what one of words does, not the square of its length',
    (piece) => {
      const words = Math.max(1, taken(filled('one word ')));
      expect(taken(filled(piece)) / words).toBeLessThan(150);
    },
  );
});
