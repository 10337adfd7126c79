import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cosine } from '../search/hits.ts';
import { packedVector, roundedVector, unpackedVector } from './vectors.ts';

const anyVector = fc
  .tuple(
    fc.array(fc.integer({ min: -10_000, max: 10_000 }), { minLength: 1, maxLength: 400 }),
    fc.integer({ min: -20, max: 20 }),
  )
  .map(([numbers, power]) => Float32Array.from(numbers, (number) => number * 10 ** power));

test('a packed vector takes a byte for each number, and four', () => {
  expect(packedVector(new Float32Array(384))).toHaveLength(388);
});

test('what was packed before is packed again without a change', () => {
  fc.assert(
    fc.property(anyVector, (vector) => {
      const rounded = roundedVector(vector);
      expect(roundedVector(rounded)).toEqual(rounded);
      expect(packedVector(rounded)).toEqual(packedVector(vector));
    }),
  );
});

test('every number is within half a step, and the direction hardly changes', () => {
  fc.assert(
    fc.property(anyVector, (vector) => {
      const rounded = roundedVector(vector);
      const largest = Math.max(...vector.map(Math.abs));
      expect(Math.max(...vector.map((value, i) => Math.abs(value - (rounded[i] ?? 0))))).toBeLessThanOrEqual(
        largest / 250,
      );
      if (largest > 0) expect(cosine(vector, rounded)).toBeGreaterThan(0.99);
    }),
  );
});

test('bytes are read wherever they lie, and zeros stay zeros', () => {
  const vector = roundedVector(Float32Array.of(0.25, -3, 0, 1.5));
  const shifted = new Uint8Array([7, 7, 7, ...packedVector(vector)]).subarray(3);
  expect(unpackedVector(shifted)).toEqual(vector);
  expect(roundedVector(new Float32Array(3))).toEqual(new Float32Array(3));
});
