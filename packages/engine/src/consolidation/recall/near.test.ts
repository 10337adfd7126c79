import { details } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../plan.ts';
import { atOnce } from '../../slices.ts';
import { isNear, nearEachOther, pairNear } from './repeats.ts';

const areNear = (facts: readonly Fact[], vectorOf: (text: string) => Float32Array): boolean =>
  atOnce(nearEachOther(facts, pairNear(vectorOf, NEAR)));
const NEAR = { vector: 0.5, keyword: 2, overlap: 0.3 };

describe('a memory is near a fact', () => {
  it.each([
    ['by its vector alone', { vector: 0.5, keyword: null }, true],
    ['by its words alone', { vector: null, keyword: 2 }, true],
    ['by neither', { vector: 0.49, keyword: 1.99 }, false],
    ['not where nothing found it', { vector: null, keyword: null }, false],
    ['not where its vector points elsewhere', { vector: -1, keyword: 0 }, false],
  ])('%s', (_name, scores, expected) => {
    expect(isNear(scores, NEAR)).toBe(expected);
  });
});

describe('facts are near each other', () => {
  const apart = (i: number) => () => Float32Array.from({ length: 4 }, (_, n) => (n === i ? 1 : 0));
  it.each([
    ['by shared words', ['User lives in Oslo', 'User lives in Bergen'], true],
    ['not by nothing shared', ['Ana paints', 'Rex barks'], false],
    ['not alone', ['User lives in Oslo'], false],
    ['not without facts', [], false],
    ['in Chinese', ['用户住在北京', '用户住在上海'], true],
  ])('%s', (_name, texts, expected) => {
    const vectors = new Map(texts.map((text, i) => [text, apart(i)()]));
    expect(areNear(texts.map(factOf), (text) => vectors.get(text) ?? new Float32Array(4))).toBe(expected);
  });

  it('by their vectors alone', () => {
    expect(areNear(['Ana paints', 'Rex barks'].map(factOf), apart(1))).toBe(true);
  });

  it('for certain where they are too many to compare, without looking at one', () => {
    const many = Array.from({ length: 201 }, (_, i) => factOf(`word${i}`, i));
    const unread = (): Float32Array => expect.unreachable('a vector was looked at');
    expect(areNear(many, unread)).toBe(true);
  });
});

function factOf(text: string, i: number) {
  return { ...details(), id: `f${i}`, text, saidAt: { at: 0, seq: i }, validFrom: 0 };
}
