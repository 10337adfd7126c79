import { indexPoint as point } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { shownPart } from '../ports/search-index.ts';
import { mergeShelves, type RankedHit } from './rank.ts';

const on =
  (shelf: 'memories' | 'messages') =>
  (memoryId: string, score: number, sourceIds: readonly string[] = []): RankedHit => ({
    hit: { point: shownPart(point({ shelf, memoryId, sourceIds })), vectorScore: null, keywordScore: 1 },
    relative: score,
    score,
  });
const memory = on('memories');
const message = on('messages');

const idsOf = (hits: readonly RankedHit[]): string[] => hits.map(({ hit }) => hit.point.memoryId);

describe('memories and messages in one list', () => {
  test('of two that answer alike the memory comes first', () => {
    const shelves = { memories: [memory('a', 0.8)], messages: [message('m', 0.8)] };
    expect(idsOf(mergeShelves(shelves, 10))).toEqual(['a', 'm']);
  });

  test('a message that answers clearly better comes before a memory', () => {
    const shelves = { memories: [memory('a', 0.4)], messages: [message('m', 0.8)] };
    expect(idsOf(mergeShelves(shelves, 10))).toEqual(['m', 'a']);
  });

  test('a message that a memory before it came from is not shown again', () => {
    const shelves = { memories: [memory('a', 0.8, ['m1'])], messages: [message('m1', 0.9), message('m2', 0.5)] };
    expect(idsOf(mergeShelves(shelves, 10))).toEqual(['a', 'm2']);
  });

  test('scores fall, and no more are shown than asked for', () => {
    const shelves = {
      memories: [memory('a', 0.9), memory('b', 0.2)],
      messages: [message('m', 0.9), message('n', 0.1)],
    };
    const merged = mergeShelves(shelves, 3);
    expect(idsOf(merged)).toEqual(['a', 'm', 'b']);
    expect(merged.map(({ score }) => score)).toEqual([0.9, expect.closeTo(0.72, 10), 0.2]);
  });

  test('one shelf alone is as it was', () => {
    expect(idsOf(mergeShelves({ memories: [], messages: [message('m', 0.3)] }, 5))).toEqual(['m']);
    expect(mergeShelves({ memories: [], messages: [] }, 5)).toEqual([]);
  });
});
