import { indexPoint as point } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { shownPart } from '../../ports/search-index.ts';
import type { RankedHit } from '../../search/rank.ts';
import { boostRelated, type FoundRelation } from './read-graph.ts';

const hit = (memoryId: string, relative: number, score: number): RankedHit => ({
  hit: { point: shownPart(point({ memoryId })), vectorScore: score, keywordScore: 1 },
  relative,
  score,
});

const relation = (score: number, ...memoryIds: string[]): FoundRelation => ({
  ...{ id: 'r', source: 'a', relationship: 'knows', destination: 'b', sourceName: 'A', destinationName: 'B' },
  ...{ validFrom: 0, invalidAt: null, saidAt: { at: 0, seq: 1 }, confirmations: 0, memoryIds, score },
});

const orderOf = (hits: readonly RankedHit[]): string[] => hits.map(({ hit: found }) => found.point.memoryId);
const HITS = [hit('a', 1, 0.8), hit('b', 0.95, 0.76), hit('c', 0.2, 0.16)];

test('of memories that fit about equally well the related one comes first', () => {
  expect(orderOf(boostRelated(HITS, [relation(0.5, 'b')]))).toEqual(['b', 'a', 'c']);
});

test('what hardly fits stays behind, however related it is', () => {
  expect(orderOf(boostRelated(HITS, [relation(1, 'c')]))).toEqual(['a', 'b', 'c']);
});

test('the best relation brings forward the most, and how sure it is stays as it was', () => {
  const boosted = boostRelated(HITS, [relation(0.9, 'a'), relation(0.09, 'b', 'gone')]);
  expect(orderOf(boosted)).toEqual(['a', 'b', 'c']);
  expect(boosted[0]).toMatchObject({ relative: 1, score: 0.8 });
  expect(boosted[1]?.relative).toBeCloseTo(0.96 / 1.1);
});

test('a score that is a cosine is not touched', () => {
  const cosines = [hit('a', 1, 0.5), hit('b', 0.99, 0.1)];
  const boosted = boostRelated(cosines, [relation(1, 'b')]);
  expect(orderOf(boosted)).toEqual(['b', 'a']);
  expect(boosted.map(({ score }) => score)).toEqual([0.1, 0.5]);
});

test('without relations, or memories of theirs, nothing changes', () => {
  expect(boostRelated(HITS, [])).toBe(HITS);
  expect(boostRelated(HITS, [relation(1, 'other')])).toBe(HITS);
  expect(boostRelated([], [relation(1, 'a')])).toEqual([]);
});
