import { describe, expect, it } from 'vitest';
import { dayText, dayTextHan, millisOf } from './dates.ts';

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
