import { describe, expect, test } from 'vitest';
import { cosine, dot } from './scoring.ts';

const vector = (...numbers: number[]): Float32Array => Float32Array.from(numbers);

describe('vectors', () => {
  test('cosine does not depend on length', () => {
    expect(cosine(vector(3, 0), vector(5, 0))).toBe(1);
    expect(cosine(vector(3, 0), vector(0, 2))).toBe(0);
    expect(cosine(vector(3, 0), vector(-1, 0))).toBe(-1);
  });

  test('a vector of zeros is near nothing', () => {
    expect(cosine(vector(0, 0), vector(1, 0))).toBe(0);
  });

  test('rounding never makes a cosine larger than 1', () => {
    const odd = vector(0.1, 0.2, 0.3, 0.7);
    expect(cosine(odd, odd)).toBeLessThanOrEqual(1);
  });

  test('a vector can be taken out of the middle of many', () => {
    expect(dot(vector(9, 9, 1, 2), vector(3, 4), 2)).toBe(11);
  });
});
