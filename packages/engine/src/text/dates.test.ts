import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayText, dayTextHan, isoOf, millisOf, withoutStamp } from './dates.ts';

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

const at = (text: string): number => millisOf(text) ?? Number.NaN;

describe('a day in words', () => {
  it.each([
    ['2023-05-07T23:59:59Z', '2023-05-07 7 7th May Sunday', '2023年5月7日 星期日'],
    ['1970-01-01', '1970-01-01 1 1st January Thursday', '1970年1月1日 星期四'],
    ['1969-12-31T12:00:00Z', '1969-12-31 31 31st December Wednesday', '1969年12月31日 星期三'],
    ['2024-02-12', '2024-02-12 12 12th February Monday', '2024年2月12日 星期一'],
    ['2026-11-22', '2026-11-22 22 22nd November Sunday', '2026年11月22日 星期日'],
    ['2026-11-23', '2026-11-23 23 23rd November Monday', '2026年11月23日 星期一'],
  ])('%s has its date, month and weekday', (moment, english, chinese) => {
    expect(dayText(at(moment))).toBe(english);
    expect(dayTextHan(at(moment))).toBe(chinese);
  });
});

describe('a time that a sentence is stamped with', () => {
  const SAID_AT = ['2026-03-09T10:00:30.757Z'];

  it.each([
    ['User has a dog. 2026-03-09T10:00:30.757Z', 'User has a dog.'],
    ['User has a dog. 2026-03-09', 'User has a dog.'],
    ['User has a dog (2026-03-09T10:00Z)', 'User has a dog'],
    ['User has a dog – 2026-03-09 10:00:30', 'User has a dog'],
    ['[2026-03-09T10:00:30Z] User has a dog', 'User has a dog'],
    ['2026-03-09: User has a dog', 'User has a dog'],
    ['用户有一只狗。2026-03-09', '用户有一只狗。'],
  ])('is left out: %s', (text, without) => {
    expect(withoutStamp(text, SAID_AT)).toBe(without);
  });

  it.each([
    'User travels to Oslo on 2026-03-09',
    'User ran a marathon (2026-03-09)',
    'User has a dog. 2026-03-08',
    'User lands at 2026-03-09T18:00:00Z',
    'User lands at 2026-03-09T10:00:00Z',
    'User has a dog (2026-03-09T18:00:00Z)',
    '2026-03-09',
    'User has 2 dogs',
  ])('stays where it says something: %s', (text) => {
    expect(withoutStamp(text, SAID_AT)).toBe(text);
  });
});
