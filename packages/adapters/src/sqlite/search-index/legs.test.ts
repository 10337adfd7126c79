import { cosine } from '@slowwave/engine';
import { indexPoint, indexQuery, seeded } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { type Seen, vectorLeg } from './legs.ts';
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
    let compared = 0;
    const readVectors = (points: Seen) => {
      compared += points.length;
      return new Map(points.map((point) => [point, vectors[point.slot] ?? new Float32Array()]));
    };
    const nearest = (vector: Float32Array, limit: number) =>
      vectorLeg(seen, { vector, limit }, readVectors).map(([{ slot }, score]) => [slot, score]);
    return { nearest, compared: () => compared };
  };
  const exactly = (vectors: readonly Float32Array[], asked: Float32Array, limit: number) =>
    vectors
      .map((vector, position) => [position, cosine(vector, asked)] as const)
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, limit);

  test('finds the nearest of many exactly, and compares few of them whole', () => {
    const vectors = Array.from({ length: 600 }, any);
    const { nearest, compared } = bench(vectors);
    for (let i = 0; i < 10; i += 1) {
      const asked = any();
      expect(nearest(asked, 10)).toEqual(exactly(vectors, asked, 10));
    }
    expect(compared() / 10).toBeLessThan(60);
  });

  test('tells vectors apart that are the same in eight bits, and leaves equal ones in the order of their ids', () => {
    const middle = any();
    const alike = Array.from({ length: 100 }, () => near(middle, 1e-4));
    const vectors = [...alike, ...alike.slice(0, 20), ...Array.from({ length: 100 }, any)];
    const { nearest } = bench(vectors);
    expect(nearest(middle, 15)).toEqual(exactly(vectors, middle, 15));
    expect(nearest(near(middle, 0.1), 150)).toHaveLength(150);
  });

  test('reads no vector that is all zeros, nor any for a question that is', () => {
    const vectors = [...Array.from({ length: 50 }, () => new Float32Array(DIMENSIONS)), any(), any()];
    const { nearest, compared } = bench(vectors);
    const asked = any();
    expect(nearest(asked, 20)).toEqual(exactly(vectors, asked, 20));
    expect(compared()).toBeLessThanOrEqual(2);
    const nowhere = new Float32Array(DIMENSIONS);
    expect(nearest(nowhere, 20)).toEqual(exactly(vectors, nowhere, 20));
    expect(compared()).toBeLessThanOrEqual(2);
  });

  test('vectors of any length are compared by direction alone, and one without direction is no trouble', () => {
    const [tiny, huge] = [any().map((value) => value * 1e-30), any().map((value) => value * 1e30)];
    const vectors = [tiny, huge, new Float32Array(DIMENSIONS), any()];
    const { nearest } = bench(vectors);
    for (const asked of [tiny, huge, new Float32Array(DIMENSIONS)]) {
      expect(nearest(asked, 4)).toEqual(exactly(vectors, asked, 4));
      expect(nearest(asked, 1)).toEqual(exactly(vectors, asked, 1));
    }
  });
});
