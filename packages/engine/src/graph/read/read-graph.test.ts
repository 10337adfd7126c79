import { indexPoint as point } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { shownPart } from '../../ports/search-index.ts';
import type { RankedHit } from '../../search/rank.ts';
import { readHit } from '../../search/read-text.ts';
import { boostRelated, type FoundRelation } from './read-graph.ts';

const hit = (memoryId: string, relative: number, unrated: RankedHit['unrated']): RankedHit => ({
  hit: readHit({ point: shownPart(point({ memoryId })), vectorScore: 0.5, keywordScore: 1 }),
  relative,
  unrated,
});

const relation = (score: number, ...memoryIds: string[]): FoundRelation => ({
  ...{ id: 'r', source: 'a', relationship: 'knows', destination: 'b', sourceName: 'A', destinationName: 'B' },
  ...{ validFrom: 0, invalidAt: null, saidAt: { at: 0, seq: 1 }, confirmations: 0, memoryIds, score },
});

const orderOf = (hits: readonly RankedHit[]): string[] => hits.map(({ hit: found }) => found.point.memoryId);
const HITS = [1, 0.95, 0.2].map((relative, place) => hit('abc'.charAt(place), relative, { relative, place }));

test('of memories that fit about equally well the related one comes first', () => {
  expect(orderOf(boostRelated(HITS, [relation(0.5, 'b')]))).toEqual(['b', 'a', 'c']);
});

test('what hardly fits stays behind, however related it is', () => {
  expect(orderOf(boostRelated(HITS, [relation(1, 'c')]))).toEqual(['a', 'b', 'c']);
});

test('the best relation brings forward the most, and all is compared with the best', () => {
  const boosted = boostRelated(HITS, [relation(0.9, 'a'), relation(0.09, 'b', 'gone')]);
  expect(orderOf(boosted)).toEqual(['a', 'b', 'c']);
  expect(boosted[0]).toMatchObject({ relative: 1, unrated: { relative: 1, place: 0 } });
  expect(boosted[1]?.relative).toBeCloseTo(0.96 / 1.1);
});

test('what was rated down comes forward from where it is, and is first without its rating as well', () => {
  const rated = [hit('b', 0.95, { relative: 0.95, place: 1 }), hit('a', 0.8, { relative: 1, place: 0 })];
  const boosted = boostRelated(rated, [relation(1, 'b')]);
  expect(orderOf(boosted)).toEqual(['b', 'a']);
  expect(boosted.map(({ unrated }) => unrated.place)).toEqual([0, 1]);
  expect(boosted[1]?.relative).toBeCloseTo(0.8 / 1.05);
  expect(boosted[1]?.unrated.relative).toBeCloseTo(1 / 1.05);
});

test('without relations, or memories of theirs, nothing changes', () => {
  expect(boostRelated(HITS, [])).toBe(HITS);
  expect(boostRelated(HITS, [relation(1, 'other')])).toBe(HITS);
  expect(boostRelated([], [relation(1, 'a')])).toEqual([]);
});
