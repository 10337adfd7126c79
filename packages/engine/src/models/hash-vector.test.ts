import { anyCharacter } from '@slowwave/engine-testing';
import { assert as check, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cosine, lengthOf } from '../search/hits.ts';
import { hashVector } from './vectors.ts';

const near = (a: string, b: string): number => cosine(hashVector(a), hashVector(b));

describe('hashVector', () => {
  test('every text has a vector of length 1, the empty one too', async () => {
    await check(
      property(string({ unit: anyCharacter }), (text) => {
        const vector = hashVector(text, 64);
        expect(vector).toHaveLength(64);
        expect(lengthOf(vector)).toBeCloseTo(1, 5);
      }),
    );
    expect(lengthOf(hashVector(''))).toBeCloseTo(1, 5);
  });

  test('the same text gives the same numbers on every machine', () => {
    const numbers = [...hashVector('Ann likes tea 北京', 16)].map((number) => Math.round(number * 10_000));
    expect(numbers).toEqual(EXPECTED);
  });

  test('texts on the same thing are nearer than others', () => {
    const same = near('User lives in Berlin', 'In which city does the user live? Berlin?');
    expect(same).toBeGreaterThan(near('User lives in Berlin', 'Bob plays chess on Sundays'));
  });

  test('what only begins alike is not near, and what is said of users further on is', () => {
    expect(near('User paints', 'User smokes')).toBeLessThan(0.1);
    expect(near('Nutzer malt', 'Nutzer raucht')).toBeLessThan(0.1);
    expect(near('用户画画', '用户抽烟')).toBeLessThan(0.1);
    expect(near('users table', 'User manages the users table')).toBeGreaterThan(0.5);
  });

  test('a slip of the pen stays near', () => {
    expect(near('vegetarian food', 'vegitarian food')).toBeGreaterThan(0.5);
  });

  test('Chinese texts that share a word are near', () => {
    expect(near('我住在北京', '北京的天气')).toBeGreaterThan(0.2);
    expect(near('我住在北京', '他喜欢喝茶')).toBeLessThan(0.1);
  });

  test('word order counts, a little', () => {
    const swapped = near('Ann visits Bob', 'Bob visits Ann');
    expect(swapped).toBeLessThan(1);
    expect(swapped).toBeGreaterThan(0.7);
  });

  test('texts of common words alone are told apart by their spelling', () => {
    expect(near('to be or not to be', 'To be or not to be!')).toBeCloseTo(1, 5);
    expect(near('to be or not to be', 'who are you')).toBeLessThan(1);
  });
});

const EXPECTED = [-1322, -4295, 0, 0, -1652, 2643, 3304, 0, -991, 991, 6278, -991, -991, 991, -1982, 3304];
