import type { IndexPoint } from '@slowwave/engine';
import { indexPoint, indexQuery } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { keptPart } from '../../index-point.ts';
import { type ChangedPoint, foundIn } from './looking.ts';
import { type ManyPoints, manyPoints, type SaidPoint } from './many.ts';
import { partsOf } from './packed-shown.ts';
import { headOf, recordOf } from './record.ts';
import { segmentOf } from './stored-point.ts';

const DIMENSIONS = 4;
const POINTS = 40;

const recordAt = (slot: number, given: Partial<IndexPoint> = {}): Uint8Array => {
  const point = indexPoint({ memoryId: `m${String(slot).padStart(2, '0')}`, ...given });
  return recordOf(headOf(point, slot), point.vector);
};
const said = (slot: number, given: Partial<IndexPoint> = {}): SaidPoint => {
  const [point] = segmentOf(recordAt(slot, given)).points;
  if (point === undefined) throw new Error('a record is a point');
  const { memoryId } = point;
  return { point, parts: partsOf(keptPart(indexPoint({ ...given, memoryId })), point.moments) };
};
const changed = (slot: number, given: Partial<IndexPoint> | null): ChangedPoint => ({
  slot,
  ...(given === null ? { point: null, parts: null } : said(slot, given)),
});
const found = (many: ManyPoints, term: string): readonly (readonly [string, number | null])[] =>
  foundIn({ segments: [], many }, indexQuery({ terms: [term], limit: 100 }), null).map(
    ({ point, keywordScore }) => [`${point.memoryId} ${point.version}`, keywordScore] as const,
  );

test('who looks at very many points sees them as they were, whatever is written later', () => {
  const before = manyPoints(
    Array.from({ length: POINTS }, (_, i) => said(i)),
    DIMENSIONS,
  );
  const seen = found(before, 'tea');
  expect(seen).toHaveLength(POINTS);
  const written = before.with([changed(3, { version: 2, terms: ['milk'] }), changed(4, null), changed(POINTS, {})]);
  const after = written?.with([changed(3, null), changed(4, { version: 5 })]) ?? null;
  if (written === null || after === null) throw new Error('there is room for five');
  expect(found(before, 'tea')).toEqual(seen);
  expect(found(written, 'milk')).toContainEqual(['m03 2', expect.any(Number)]);
  expect(found(written, 'milk')).toHaveLength(POINTS);
  const names = found(after, 'tea').map(([name]) => name);
  expect(names).toHaveLength(POINTS);
  expect(names).toContain('m04 5');
  expect(names.some((name) => name.startsWith('m03'))).toBe(false);
  // What is gone is in no copy, and scores are those of what is left.
  const copy = manyPoints(after.copied(), DIMENSIONS);
  expect(found(copy, 'tea')).toEqual(found(after, 'tea'));
  expect(() => before.with([changed(5, null)])).toThrow('newest');
});

test('where there is no room nothing is taken in', () => {
  const many = manyPoints([said(0)], DIMENSIONS);
  expect(many.with(Array.from({ length: 600 }, (_, i) => changed(i + 1, {})))).toBeNull();
  expect(found(many, 'tea')).toHaveLength(1);
});

test('so much may be gone that is still in memory, and no more', () => {
  const all = Array.from({ length: 1_000 }, (_, i) => said(i, { text: `${'much '.repeat(100)}${i}` }));
  let many = manyPoints(all, DIMENSIONS);
  const { bytes } = many;
  let gone = 0;
  for (; ; gone += 1) {
    const left = many.with([changed(gone, null)]);
    if (left === null) break;
    many = left;
  }
  expect(gone).toBe(512);
  // Whoever is gone does not go again.
  expect(many.with([changed(0, null)])).not.toBeNull();
  const anew = manyPoints(many.copied(), DIMENSIONS);
  expect(anew.bytes).toBeLessThan(bytes * 0.6);
  expect(found(anew, 'tea')).toHaveLength(100);
});
