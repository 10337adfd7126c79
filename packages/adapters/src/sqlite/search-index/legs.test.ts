import { cosine } from '@slowwave/engine';
import { indexPoint, indexQuery, seeded } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { vectorLeg } from './legs.ts';
import { seenOf } from './looking.ts';
import { headOf, recordOf } from './record.ts';
import { segmentOf } from './stored-point.ts';

const DIMENSIONS = 300;

describe('the vector leg of the embedded index', () => {
  const random = seeded(7);
  const any = (): Float32Array => Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const near = (vector: Float32Array, by: number): Float32Array => vector.map((value) => value + by * (random() - 0.5));

  const bench = (vectors: readonly Float32Array[]) => {
    const records = vectors.map((vector, slot) => {
      const memoryId = `m${String(slot).padStart(4, '0')}`;
      return recordOf(headOf(indexPoint({ memoryId, vector }), slot), vector);
    });
    const seen = seenOf({ segments: [segmentOf(Buffer.concat(records))] }, indexQuery(), null);
    return {
      /** As they are once they are written. */
      written: seen.map(({ vector }) => vector.subarray(0, DIMENSIONS)),
      nearest: (vector: Float32Array, limit: number) =>
        vectorLeg(seen, { vector, limit }).map(([{ slot }, score]) => [slot, score]),
    };
  };
  const exactly = (vectors: readonly Float32Array[], asked: Float32Array, limit: number) =>
    vectors
      .map((vector, position) => [position, cosine(vector, asked)] as const)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, limit);

  test('finds the nearest of many exactly', () => {
    const { nearest, written } = bench(Array.from({ length: 600 }, any));
    for (let i = 0; i < 10; i += 1) {
      const asked = any();
      expect(nearest(asked, 10)).toEqual(exactly(written, asked, 10));
    }
  });

  test('tells vectors apart that hardly differ, and leaves equal ones in the order of their ids', () => {
    const middle = any();
    const alike = Array.from({ length: 100 }, () => near(middle, 1e-4));
    const vectors = [...alike, ...alike.slice(0, 20), ...Array.from({ length: 100 }, any)];
    const { nearest, written } = bench(vectors);
    expect(nearest(middle, 15)).toEqual(exactly(written, middle, 15));
    expect(nearest(near(middle, 0.1), 150)).toHaveLength(150);
  });

  test('vectors that are all zeros are at a right angle to everything, as are questions that are', () => {
    const vectors = [...Array.from({ length: 50 }, () => new Float32Array(DIMENSIONS)), any(), any()];
    const { nearest, written } = bench(vectors);
    for (const asked of [any(), new Float32Array(DIMENSIONS)])
      expect(nearest(asked, 20)).toEqual(exactly(written, asked, 20));
  });

  test('vectors of any length are compared by direction alone, and one without direction is no trouble', () => {
    const [tiny, huge] = [any().map((value) => value * 1e-30), any().map((value) => value * 1e30)];
    const vectors = [tiny, huge, new Float32Array(DIMENSIONS), any()];
    const { nearest, written } = bench(vectors);
    for (const asked of [tiny, huge, new Float32Array(DIMENSIONS)]) {
      expect(nearest(asked, 4)).toEqual(exactly(written, asked, 4));
      expect(nearest(asked, 1)).toEqual(exactly(written, asked, 1));
    }
  });
});
