import { expect, it } from 'vitest';
import { seededRandom } from './random.ts';

const drawn = (seed: string): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: 1_000 }, () => random.between(0, 9));
};

it('a seed gives the same numbers every time, and another one others', () => {
  expect(drawn('a')).toEqual(drawn('a'));
  expect(drawn('a')).not.toEqual(drawn('b'));
});

it('every number of a range comes up about as often', () => {
  const counts = Map.groupBy(drawn('a'), (number) => number);
  for (let number = 0; number <= 9; number += 1) expect(counts.get(number)?.length).toBeGreaterThan(60);
});

it('what is drawn from a fork changes nothing for the others', () => {
  const [one, other] = [seededRandom('a'), seededRandom('a')];
  one.fork('x').next();
  expect(one.next()).toBe(other.next());
});

it('shuffling keeps every item', () => {
  expect(seededRandom('a').shuffled([1, 2, 3, 4]).sort()).toEqual([1, 2, 3, 4]);
});
