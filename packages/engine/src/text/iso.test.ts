import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoOf, millisOf } from './dates.ts';

const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

describe('moments', () => {
  it('are written as the platform writes them', () => {
    fc.assert(
      fc.property(fc.integer({ min: FIRST, max: LAST }), (at) => {
        expect(isoOf(at)).toBe(new Date(at).toISOString());
        expect(millisOf(isoOf(at))).toBe(at);
      }),
    );
  });

  it.each([
    ['2026', '2026-01-01T00:00:00Z'],
    ['2026-03', '2026-03-01T00:00:00Z'],
    ['2026-3-9', '2026-03-09T00:00:00Z'],
    ['2026-03-09T10:30', '2026-03-09T10:30:00Z'],
    ['2026-03-09T10:30:15.5+02:00', '2026-03-09T08:30:15.500Z'],
    ['2026-03-09T10:30:15.1234567890123+02:00', '2026-03-09T08:30:15.123Z'],
    ['2026-03-09 10:30:00 -0530', '2026-03-09T16:00:00Z'],
  ])('%s is read as far as it is given', (text, moment) => {
    expect(millisOf(text)).toBe(Date.parse(moment));
  });

  it.each(['', 'soon', '2026-13', '2026-02-30', '26', '2026-03-09T25:00', '0000'])('%j is no moment', (text) => {
    expect(millisOf(text)).toBeNull();
  });
});
