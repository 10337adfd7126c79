import { type Day, dayAt, isoOf, shifted, startOf, type Unit, weekdayFrom, yearless } from '../calendar.ts';
import type { Dated } from '../sentences.ts';

const DIGITS = '零一二三四五六七八九';
const NUMBER = '(?<count>\\d{1,3}|[一二两三四五六七八九十半几]{1,3})';
const WEEKDAYS = '日一二三四五六';

interface Moment {
  readonly day: Day;
  readonly label: string;
}
interface Asked {
  readonly today: Day;
  readonly ahead: boolean;
  readonly phrase: string;
  readonly groups: Readonly<Record<string, string | undefined>>;
}
interface Pattern {
  readonly pattern: RegExp;
  readonly resolve: (asked: Asked) => Moment;
}

const onDay = (day: Day): Moment => ({ day, label: `${day.year}年${day.month + 1}月${day.day}日` });
const about = (day: Day): Moment => ({ day, label: `${onDay(day).label}前后` });
const inMonth = (day: Day): Moment => ({ day, label: `${day.year}年${day.month + 1}月` });
const inYear = (day: Day): Moment => ({ day, label: `${day.year}年` });

const DAYS: Readonly<Record<string, number>> = { 大前: -3, 前: -2, 昨: -1, 今: 0, 明: 1, 后: 2, 大后: 3 };
const YEARS: Readonly<Record<string, number>> = { 前: -2, 去: -1, 今: 0, 明: 1, 后: 2 };

const PATTERNS: readonly Pattern[] = [
  { pattern: /(?<year>(?:19|20)\d\d)年(?:(?<month>\d{1,2})月)?(?:(?<date>\d{1,2})[日号])?/u, resolve: named },
  { pattern: /(?<month>\d{1,2})月(?:(?<date>\d{1,2})[日号])/u, resolve: named },
  {
    pattern: /(?<which>大前|前|昨|今|明|大后|后)(?:天(?:早上|上午|中午|下午|晚上)?|晚|早)/u,
    resolve: (asked) => onDay(shifted(asked.today, DAYS[asked.groups.which ?? ''] ?? 0, 'day')),
  },
  { pattern: /(?<which>前|去|今|明|后)年(?:(?<month>\d{1,2})月)?/u, resolve: yearNamed },
  { pattern: /(?<which>上|下|这|本)个?(?:周|星期|礼拜)(?<weekday>[一二三四五六日天末])?/u, resolve: inWeek },
  { pattern: /(?<!每|每个|下|上|这|本)(?:周|星期|礼拜)(?<weekday>[一二三四五六日天])(?!都|常)/u, resolve: bareWeekday },
  {
    pattern: /(?<which>上|下|这|本)个?月/u,
    resolve: (asked) => inMonth(shifted(startOf(asked.today, 'month'), step(asked), 'month')),
  },
  {
    pattern: new RegExp(`${NUMBER}个?(?<unit>天|日|周|星期|礼拜|月|年)(?:之|以)?(?<way>前|后)`, 'u'),
    resolve: counted,
  },
];
/** "五年了": how long something has been so. */
const LASTING = new RegExp(`(?:已经|有|快)?${NUMBER}个?(?<unit>天|周|星期|月|年)了$`, 'u');
const UNITS: Readonly<Record<string, Unit>> = {
  天: 'day',
  日: 'day',
  周: 'week',
  星期: 'week',
  礼拜: 'week',
  月: 'month',
  年: 'year',
};

/** Takes the first date out of a clause, and resolves it against the day the clause was said. */
export function datedChinese(raw: string, today: Day): Dated {
  const ahead = !/了|过|刚/u.test(raw);
  for (const { pattern, resolve } of [...PATTERNS, { pattern: LASTING, resolve: lasting }]) {
    const match = pattern.exec(raw);
    if (match === null) continue;
    const { day, label } = resolve({ today, ahead, phrase: match[0], groups: match.groups ?? {} });
    return { raw, without: raw.replace(match[0], ''), labelled: raw.replace(match[0], label), validFrom: isoOf(day) };
  }
  return { raw, without: raw, labelled: raw, validFrom: null };
}

function named({ today, ahead, groups }: Asked): Moment {
  const month = Number(groups.month ?? 1) - 1;
  const date = Number(groups.date ?? 1);
  const day =
    groups.year === undefined ? yearless(today, month, { day: date, ahead }) : dayAt(Number(groups.year), month, date);
  if (groups.date !== undefined) return onDay(day);
  return groups.month === undefined ? inYear(day) : inMonth(day);
}

function yearNamed({ today, groups }: Asked): Moment {
  const year = today.year + (YEARS[groups.which ?? ''] ?? 0);
  if (groups.month === undefined) return inYear(dayAt(year, 0));
  return inMonth(dayAt(year, Number(groups.month) - 1));
}

/** Chinese weeks begin on Monday: "上周五" is the Friday of the week before this one. */
function inWeek(asked: Asked): Moment {
  const said = asked.groups.weekday;
  if (said === undefined) return about(shifted(asked.today, step(asked), 'week'));
  const monday = weekdayFrom(shifted(asked.today, 1, 'day'), 1, -1);
  const weekday = said === '天' ? 0 : said === '末' ? 6 : WEEKDAYS.indexOf(said);
  return onDay(shifted(shifted(monday, step(asked), 'week'), (weekday + 6) % 7, 'day'));
}

/** "周五" is the one to come, or in a tale the one that has been. */
function bareWeekday({ today, ahead, groups }: Asked): Moment {
  return onDay(
    weekdayFrom(today, '日一二三四五六'.indexOf((groups.weekday ?? '').replace('天', '日')), ahead ? 1 : -1),
  );
}

function counted(asked: Asked): Moment {
  const unit = UNITS[asked.groups.unit ?? ''] ?? 'day';
  const count = countOf(asked.groups.count ?? '') * (asked.groups.way === '后' ? 1 : -1);
  if (!Number.isInteger(count)) return inMonth(shifted(asked.today, Math.round(count * 12), 'month'));
  const day = shifted(asked.today, count, unit);
  if (unit === 'day') return onDay(day);
  if (unit === 'week') return about(day);
  return unit === 'month' ? inMonth(day) : inYear(day);
}

function lasting(asked: Asked): Moment {
  const { day } = counted({ ...asked, groups: { ...asked.groups, way: '前' } });
  return { day, label: asked.phrase };
}

const step = (asked: Asked): number => ({ 上: -1, 下: 1 })[asked.groups.which ?? ''] ?? 0;

/** 三 → 3, 十二 → 12, 二十 → 20, 半 → 0.5, 几 → 3 */
function countOf(said: string): number {
  if (/^\d+$/u.test(said)) return Number(said);
  if (said === '半') return 0.5;
  if (said === '几') return 3;
  const [tens = '', ones = ''] = said.includes('十') ? said.split('十') : ['none', said];
  const digit = (text: string) => DIGITS.indexOf(text.replace('两', '二').slice(0, 1));
  if (tens === 'none') return digit(ones);
  return (tens === '' ? 1 : digit(tens)) * 10 + (ones === '' ? 0 : digit(ones));
}
