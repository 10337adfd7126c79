import { expect, test } from 'vitest';
import { countOf, type Given, momentOf, oneOf, ownerOf } from './command.ts';

const given = (options: Readonly<Record<string, string>>): Given => ({
  words: [],
  text: (name) => options[name] ?? null,
  flag: () => false,
});
const NOON = Date.parse('2026-03-01T12:00:00Z');

test('a moment is told as such, or as how long ago it was', () => {
  const at = (since: string) => momentOf(given({ since }), 'since', NOON);
  expect(at('2026-02-01T10:00:00+02:00')).toBe('2026-02-01T08:00:00.000Z');
  expect(at('2026-02-01')).toBe('2026-02-01T00:00:00.000Z');
  expect([at('90s'), at('30m'), at('2h'), at('7d')]).toEqual([
    '2026-03-01T11:58:30.000Z',
    '2026-03-01T11:30:00.000Z',
    '2026-03-01T10:00:00.000Z',
    '2026-02-22T12:00:00.000Z',
  ]);
  expect(momentOf(given({}), 'since')).toBeNull();
  for (const wrong of ['yesterday', '2026', '-3h', '3w', '2026-13-45T00:00:00Z', '2026-02-01T10:00']) {
    expect(() => at(wrong)).toThrow(`--since: expected a moment like`);
  }
});

test('a number has to be whole and within its limits', () => {
  const limit = { usual: 50, max: 100 };
  expect(countOf(given({}), 'limit', limit)).toBe(50);
  expect(countOf(given({ limit: '100' }), 'limit', limit)).toBe(100);
  for (const wrong of ['0', '101', '1.5', 'x', '']) {
    expect(() => countOf(given({ limit: wrong }), 'limit', limit)).toThrow('a whole number from 1 to 100');
  }
});

test('a word has to be one of those there are', () => {
  expect(oneOf(given({ state: 'b' }), 'state', ['a', 'b'])).toBe('b');
  expect(oneOf(given({}), 'state', ['a', 'b'])).toBeNull();
  expect(() => oneOf(given({ state: 'c' }), 'state', ['a', 'b'])).toThrow('--state: expected one of a, b, got "c"');
});

test('exactly one owner is named', () => {
  expect(ownerOf(given({ agent: 'bot' }))).toEqual({ agent_id: 'bot' });
  expect(() => ownerOf(given({}))).toThrow('expected one of --user, --agent, --run, got ""');
  expect(() => ownerOf(given({ user: 'a', run: 'b' }))).toThrow('got "a, b"');
});
