import { type Json, readFilter } from '@slowwave/engine';
import { indexPoint } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { conditionFor } from './filters.ts';
import { MORE_TOKENS, tokensOf } from './points.ts';

const asked = (json: Json) => conditionFor(readFilter(json));

describe('what Qdrant is asked to rule out', () => {
  test('is everything that tokens and numbers tell, and what is not so', () => {
    const point = indexPoint({ memoryId: 'm', category: 'food', metadata: { tags: ['a', 'b'], deep: { n: 7 } } });
    const tokens = tokensOf(point);
    for (const json of [
      { categories: 'food' },
      { 'metadata.tags': 'b' },
      { 'metadata.deep.n': 7 },
      { 'metadata.deep': '*' },
    ]) {
      expect(asked(json)).toEqual({ key: 'has', match: { any: [expect.any(String), MORE_TOKENS] } });
      expect(JSON.stringify(asked(json))).toMatch(new RegExp(tokens.join('|')));
    }
    expect(asked({ 'metadata.deep.n': { ne: 7 } })).toEqual({
      must_not: [{ key: 'has', match: { any: [expect.stringMatching(tokens.join('|'))] } }],
    });
    expect(asked({ created_at: { gte: '1970-01-02' } })).toMatchObject({
      must: [{ key: 'created_at' }, { key: 'created_at', range: { gte: 86_400_000 } }],
    });
  });

  test('is never what only the memory itself can tell', () => {
    expect(asked({ memory: { contains: 'tea' } })).toBeNull();
    expect(asked({ NOT: [{ memory: { icontains: 'tea' } }] })).toBeNull();
    expect(asked({ OR: [{ categories: 'food' }, { memory: { contains: 'tea' } }] })).toBeNull();
    expect(asked({ NOT: [{ 'metadata.n': { gt: 1 } }] })).toBeNull();
    expect(asked({ categories: 'food', memory: { contains: 'tea' } })).toEqual({
      must: [asked({ categories: 'food' })],
    });
    expect(asked({ 'metadata.n': { gt: 1 } })).toEqual(asked({ 'metadata.n': '*' }));
  });

  test('is everything where nothing can be true, and nothing where everything is', () => {
    expect(asked({ OR: [] })).toEqual({ has_id: [] });
    expect(asked({ NOT: {} })).toEqual({ has_id: [] });
    expect(asked({})).toBeNull();
  });

  test('is little of a point with more in it than has tokens', () => {
    const metadata = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, i]));
    const tokens = tokensOf(indexPoint({ memoryId: 'm', metadata }));
    expect(tokens).toContain(MORE_TOKENS);
    expect(tokens.length).toBeLessThan(300);
  });
});
