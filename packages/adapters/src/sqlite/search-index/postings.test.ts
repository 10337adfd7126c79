import { cosine } from '@slowwave/engine';
import { indexPoint, seeded } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { codesOf } from './postings.ts';
import { headOf, recordOf } from './record.ts';
import { type RoughVector, segmentOf } from './stored-point.ts';

const DIMENSIONS = 384;
const VECTORS = 5_000;
const TOPICS = 120;
const NEAREST = 10;

const random = seeded(11);

/** Some directions say more than others. */
const direction = (weight: number): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, (_, i) => weight * 0.25 ** (i / DIMENSIONS) * (random() + random() - 1));

const sum = (...vectors: readonly Float32Array[]): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, (_, i) => vectors.reduce((total, vector) => total + (vector[i] ?? 0), 0));

/** As those of a model: all lean to one side, and what is of one topic lies together. */
function likeAModels(): () => Float32Array {
  const side = direction(1);
  const topics = Array.from({ length: TOPICS }, () => direction(1));
  // The first topics are talked about most.
  return () => sum(side, topics[Math.floor(TOPICS ** random()) - 1] ?? side, direction(0.9));
}

const roughly = (vectors: readonly Float32Array[]): readonly RoughVector[] => {
  const records = vectors.map((vector, slot) =>
    recordOf(headOf(indexPoint({ memoryId: `m${slot}`, vector }), slot), vector),
  );
  return segmentOf(Buffer.concat(records)).points.map(({ roughVector }) => roughVector);
};

describe('codes of vectors', () => {
  const next = likeAModels();
  const vectors = Array.from({ length: VECTORS }, next);
  const all = new Uint8Array(VECTORS).fill(1);
  const codes = codesOf(roughly(vectors), { dimensions: DIMENSIONS, capacity: VECTORS + 1 });

  test('of what is nearest to a question at least 99 of 100 are among the likely, who are few', () => {
    const questions = Array.from({ length: 50 }, next);
    let found = 0;
    for (const question of questions) {
      const likely = new Set(codes.likely(all, question, { byBits: 1_000, byEstimate: 300 }));
      expect(likely.size).toBeGreaterThanOrEqual(300);
      expect(likely.size).toBeLessThan(310);
      const nearest = vectors
        .map((vector, document) => ({ document, near: cosine(vector, question) }))
        .sort((a, b) => b.near - a.near)
        .slice(0, NEAREST);
      found += nearest.filter(({ document }) => likely.has(document)).length;
    }
    expect(found / (questions.length * NEAREST)).toBeGreaterThanOrEqual(0.99);
  });

  test('what a question does not see is never likely, and all that it sees is where there is not enough', () => {
    const seen = all.map((_, document) => (document % 100 === 7 ? 1 : 0));
    const likely = codes.likely(seen, next(), { byBits: 1_000, byEstimate: 300 });
    expect(likely).toEqual(Array.from({ length: VECTORS / 100 }, (_, i) => i * 100 + 7));
  });

  test('a vector that comes later is told apart by the same middle; one without direction is not in the way', () => {
    const [late, seen] = [next(), new Uint8Array(VECTORS + 1).fill(1)];
    for (const [vector, isFound] of [
      [late, true],
      [new Float32Array(DIMENSIONS), false],
    ] as const) {
      codes.put(VECTORS, roughly([vector])[0] as RoughVector);
      expect(codes.likely(seen, late, { byBits: 10, byEstimate: 3 }).includes(VECTORS)).toBe(isFound);
    }
  });
});
