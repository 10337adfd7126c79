import type { Json } from '@slowwave/engine';
import type { Dated } from './sentences.ts';

/** Calendar days; months count from 0. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

type Unit = 'day' | 'week' | 'month' | 'year';

const DATE = /^(\d{4})-(\d{2})-(\d{2})/u;

/** The day on which a time stands where it was said, whatever day it is in UTC. Times travel as ISO text or as milliseconds. */
export function dayTold(time: Json | undefined): Day | null {
  const [, year, month, day] = typeof time === 'string' ? (DATE.exec(time) ?? []) : [];
  if (day !== undefined) return dayAt(Number(year), Number(month) - 1, Number(day));
  return typeof time === 'number' ? dayOf(new Date(time)) : null;
}

export function dayOf(moment: Date): Day {
  return { year: moment.getUTCFullYear(), month: moment.getUTCMonth(), day: moment.getUTCDate() };
}

/** A day that may run over the end of its month or year, put right. */
function dayAt(year: number, month: number, day = 1): Day {
  return dayOf(new Date(Date.UTC(year, month, day)));
}

function isoOf(day: Day): string {
  return new Date(Date.UTC(day.year, day.month, day.day)).toISOString().slice(0, 10);
}

function weekdayOf(day: Day): number {
  return new Date(Date.UTC(day.year, day.month, day.day)).getUTCDay();
}

/** So many units later, or earlier when negative. */
function shifted(day: Day, count: number, unit: Unit): Day {
  if (unit === 'day') return dayAt(day.year, day.month, day.day + count);
  if (unit === 'week') return dayAt(day.year, day.month, day.day + 7 * count);
  if (unit === 'month') return dayAt(day.year, day.month + count, day.day);
  return dayAt(day.year + count, day.month, day.day);
}

/** "Last month" and "next year" mean the whole of it, and count from its first day. */
function startOf(day: Day, unit: Unit): Day {
  if (unit === 'month') return { ...day, day: 1 };
  return unit === 'year' ? { ...day, month: 0, day: 1 } : day;
}

/** The nearest such weekday before (−1) or after (1) a day, never the day itself. */
function weekdayFrom(day: Day, weekday: number, direction: -1 | 1): Day {
  const ahead = (weekday - weekdayOf(day) + 7) % 7 || 7;
  return shifted(day, direction === 1 ? ahead : ahead - (ahead === 7 ? 14 : 7), 'day');
}

/** A month and day without a year: the last one that has been, or the next one to come. */
function yearless(today: Day, month: number, options: { readonly day: number; readonly ahead: boolean }): Day {
  const year = dayAt(today.year, month, options.day);
  const later = isoOf(year) > isoOf(today);
  if (options.ahead) return later ? year : dayAt(today.year + 1, month, options.day);
  return later ? dayAt(today.year - 1, month, options.day) : year;
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const COUNTS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const MONTH = `(?<month>${MONTHS.join('|')}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\.?`;
const COUNT = `(?<count>\\d{1,3}|an?|a couple of|a few|${COUNTS.slice(1).join('|')})`;
const YEAR = '(?<year>(?:19|20)\\d\\d)';

interface Moment {
  readonly day: Day;
  readonly label: string;
}
interface Asked {
  readonly today: Day;
  /** The clause speaks of what is to come. */
  readonly ahead: boolean;
  readonly groups: Readonly<Record<string, string | undefined>>;
}
type Pattern = readonly [source: string, resolve: (asked: Asked) => Moment];

const onDay = (day: Day): Moment => ({ day, label: `on ${day.day} ${monthName(day)} ${day.year}` });
const inMonth = (day: Day): Moment => ({ day, label: `in ${monthName(day)} ${day.year}` });
const inYear = (day: Day): Moment => ({ day, label: `in ${day.year}` });
const about = (day: Day): Moment => ({ day, label: `around ${day.day} ${monthName(day)} ${day.year}` });

const PATTERNS: readonly Pattern[] = [
  ['(?:on )?(?<iso>(?:19|20)\\d\\d-\\d\\d-\\d\\d)', ({ groups }) => onDay(isoDay(groups.iso ?? ''))],
  ['the day before yesterday', ({ today }) => onDay(shifted(today, -2, 'day'))],
  ['the day after tomorrow', ({ today }) => onDay(shifted(today, 2, 'day'))],
  ['yesterday(?: morning| afternoon| evening)?|last night', ({ today }) => onDay(shifted(today, -1, 'day'))],
  ['tomorrow(?: morning| afternoon| evening| night)?', ({ today }) => onDay(shifted(today, 1, 'day'))],
  ['today|tonight|this (?:morning|afternoon|evening)', ({ today }) => onDay(today)],
  [`${COUNT} (?<unit>day|week|month|year)s? ago`, (asked) => byUnit(asked, -countOf(asked))],
  [`in ${COUNT} (?<unit>day|week|month|year)s?(?: time)?`, (asked) => byUnit(asked, countOf(asked))],
  ['(?<which>last|next|this) (?<unit>week|month|year)', (asked) => whole(asked)],
  ['(?<which>last|next|this) (?<season>spring|summer|autumn|fall|winter)', season],
  ['(?<which>last|next|this) weekend', (asked) => about(weekdayFrom(asked.today, 6, direction(asked)))],
  [
    `(?:(?<which>last|next|this|this coming|on|by|since) (?:last )?(?<weekday>${WEEKDAYS.join('|')})|(?<bare>${WEEKDAYS.join('|')})(?= at|$| (?:morning|afternoon|evening|night)))(?: morning| afternoon| evening| night)?`,
    weekday,
  ],
  [
    `(?:on |by )?(?:the )?(?<date>\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? ${YEAR})?`,
    (asked) => onDay(calendarDay(asked)),
  ],
  [`(?:on |by )?${MONTH} (?<date>\\d{1,2})(?:st|nd|rd|th)?(?:,? ${YEAR})?`, (asked) => onDay(calendarDay(asked))],
  [
    `(?:back )?(?<which>in|since|last|next) (?:early |late )?${MONTH}(?: ${YEAR})?`,
    (asked) => sinceOr(asked, inMonth(calendarDay(asked))),
  ],
  [`(?:back )?(?<which>in|since) (?:early |late )?${YEAR}`, (asked) => sinceOr(asked, inYear(yearDay(asked)))],
];

const COMPILED = PATTERNS.map(([source, resolve]) => ({
  resolve,
  anywhere: new RegExp(`(?<![\\w-]|every |each )(?:${source})(?![\\w-])`, 'iu'),
}));
/** How long something has been so: only after "have", where it says when it began. */
const FOR_YEARS = new RegExp(
  `(?<=\\bhave\\b.*) for (?:about |over |almost )?${COUNT} (?<unit>day|week|month|year)s?(?: now)?`,
  'iu',
);
/** A clause in the past tense tells of a day that has been; any other, of one to come. */
const PAST =
  /^(?:\S+ ){1,4}?(?!(?:need|bed|red|married|engaged|scheduled|planned|excited|supposed)\b)(?:\w+ed|was|were|had|did|went|(?<!have )got|bought|sold|ran|won|met|flew|broke|came|left|saw|ate|took|made|gave|began|quit|lost|found|taught|told|became|grew|have been|has been)\b/iu;
/** What is put off is to come all the same. */
const PUT_OFF =
  /\b(?:was|were|got|is|been|being) (?:moved|rescheduled|postponed|pushed back|brought forward) (?:to|for)\b/iu;

/** Takes the first date out of a clause, and resolves it against the day the clause was said. */
export function datedEnglish(raw: string, today: Day): Dated {
  const found = firstDate(raw, today);
  if (found === null) return { raw, without: raw, labelled: raw, validFrom: null };
  const put = (text: string) => raw.replace(found.phrase, text).replaceAll(/\s+/gu, ' ').trim();
  return { raw, without: put(' '), labelled: put(` ${found.moment.label} `), validFrom: isoOf(found.moment.day) };
}

/** Whether a piece of a sentence is a date and nothing else. */
export function isOnlyDate(piece: string): boolean {
  return COMPILED.some(({ anywhere }) => piece.replace(anywhere, '').trim() === '');
}

function firstDate(raw: string, today: Day): { readonly phrase: string; readonly moment: Moment } | null {
  const ahead = PUT_OFF.test(raw) || !PAST.test(raw);
  const lasting = FOR_YEARS.exec(raw);
  if (lasting !== null) {
    const asked = { today, ahead, groups: lasting.groups ?? {} };
    const { day } = byUnit(asked, -countOf(asked));
    return { phrase: lasting[0], moment: { day, label: `since ${day.year}` } };
  }
  for (const { anywhere, resolve } of COMPILED) {
    const match = anywhere.exec(raw);
    if (match !== null) return { phrase: match[0], moment: resolve({ today, ahead, groups: match.groups ?? {} }) };
  }
  return null;
}

/** The further away, the rougher people count. */
function byUnit(asked: Asked, count: number): Moment {
  const unit = word(asked, 'unit') as Unit;
  const day = shifted(asked.today, count, unit);
  if (unit === 'day') return onDay(day);
  if (unit === 'week') return about(day);
  return unit === 'month' ? inMonth(day) : inYear(day);
}

function whole(asked: Asked): Moment {
  const unit = word(asked, 'unit') as Unit;
  const step = { last: -1, this: 0, next: 1 }[word(asked, 'which')] ?? 0;
  const day = startOf(shifted(startOf(asked.today, unit), step, unit), unit);
  if (unit === 'week') return about(day);
  return unit === 'month' ? inMonth(day) : inYear(day);
}

/** Seasons of the northern half, by their first month. */
const SEASONS: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 };

function season(asked: Asked): Moment {
  const name = word(asked, 'season');
  const ahead = direction(asked) === 1;
  // A season that still lasts is not the last one.
  const from = ahead ? asked.today : shifted(asked.today, -3, 'month');
  const day = yearless(from, SEASONS[name] ?? 0, { day: 1, ahead });
  return { day, label: `in ${name} ${day.year}` };
}

/** "On Friday" is the one to come, or the one that has been in a tale; "next Friday" is the Friday of next week. */
function weekday(asked: Asked): Moment {
  const day = WEEKDAYS.indexOf(word(asked, 'weekday') || word(asked, 'bare'));
  if (word(asked, 'which') !== 'next') return sinceOr(asked, onDay(weekdayFrom(asked.today, day, direction(asked))));
  return onDay(shifted(weekdayFrom(asked.today, 1, 1), (day + 6) % 7, 'day'));
}

/** What is so since a day says "since". */
const sinceOr = (asked: Asked, { day, label }: Moment): Moment => ({
  day,
  label: word(asked, 'which') === 'since' ? label.replace(/^(?:on|in)/u, 'since') : label,
});

function direction(asked: Asked): -1 | 1 {
  const which = word(asked, 'which');
  if (/^(?:last|since)$/u.test(which)) return -1;
  return which === 'next' || asked.ahead ? 1 : -1;
}

function calendarDay(asked: Asked): Day {
  const month = MONTHS.findIndex((name) => name.startsWith(word(asked, 'month').slice(0, 3)));
  const day = Number(asked.groups.date ?? 1);
  if (asked.groups.year !== undefined) return dayAt(Number(asked.groups.year), month, day);
  return yearless(asked.today, month, { day, ahead: direction(asked) === 1 });
}

function countOf(asked: Asked): number {
  const said = word(asked, 'count');
  if (/^\d+$/u.test(said)) return Number(said);
  const named = COUNTS.indexOf(said);
  if (named >= 0) return named;
  return said === 'a few' ? 3 : said === 'a couple of' ? 2 : 1;
}

const yearDay = (asked: Asked): Day => dayAt(Number(asked.groups.year), 0);
const word = (asked: Asked, name: string): string => (asked.groups[name] ?? '').toLowerCase();
const monthName = (day: Day): string => {
  const name = MONTHS[day.month] ?? '';
  return name.charAt(0).toUpperCase() + name.slice(1);
};

function isoDay(text: string): Day {
  const [year, month, day] = text.split('-').map(Number);
  return dayAt(year ?? 0, (month ?? 1) - 1, day ?? 1);
}

const DIGITS = '零一二三四五六七八九';
const NUMBER = '(?<count>\\d{1,3}|[一二两三四五六七八九十半几]{1,3})';
const CHINESE_WEEKDAYS = '日一二三四五六';

interface AskedInChinese extends Asked {
  readonly phrase: string;
}
interface ChinesePattern {
  readonly pattern: RegExp;
  readonly resolve: (asked: AskedInChinese) => Moment;
}

const onDayInChinese = (day: Day): Moment => ({ day, label: `${day.year}年${day.month + 1}月${day.day}日` });
const aboutInChinese = (day: Day): Moment => ({ day, label: `${onDayInChinese(day).label}前后` });
const inMonthInChinese = (day: Day): Moment => ({ day, label: `${day.year}年${day.month + 1}月` });
const inYearInChinese = (day: Day): Moment => ({ day, label: `${day.year}年` });

const DAYS: Readonly<Record<string, number>> = { 大前: -3, 前: -2, 昨: -1, 今: 0, 明: 1, 后: 2, 大后: 3 };
const YEARS: Readonly<Record<string, number>> = { 前: -2, 去: -1, 今: 0, 明: 1, 后: 2 };

const CHINESE_PATTERNS: readonly ChinesePattern[] = [
  { pattern: /(?<year>(?:19|20)\d\d)年(?:(?<month>\d{1,2})月)?(?:(?<date>\d{1,2})[日号])?/u, resolve: namedInChinese },
  { pattern: /(?<month>\d{1,2})月(?:(?<date>\d{1,2})[日号])/u, resolve: namedInChinese },
  {
    pattern: /(?<which>大前|前|昨|今|明|大后|后)(?:天(?:早上|上午|中午|下午|晚上)?|晚|早)/u,
    resolve: (asked) => onDayInChinese(shifted(asked.today, DAYS[asked.groups.which ?? ''] ?? 0, 'day')),
  },
  { pattern: /(?<which>前|去|今|明|后)年(?:(?<month>\d{1,2})月)?/u, resolve: yearNamed },
  { pattern: /(?<which>上|下|这|本)个?(?:周|星期|礼拜)(?<weekday>[一二三四五六日天末])?/u, resolve: inWeek },
  { pattern: /(?<!每|每个|下|上|这|本)(?:周|星期|礼拜)(?<weekday>[一二三四五六日天])(?!都|常)/u, resolve: bareWeekday },
  {
    pattern: /(?<which>上|下|这|本)个?月/u,
    resolve: (asked) => inMonthInChinese(shifted(startOf(asked.today, 'month'), step(asked), 'month')),
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
  for (const { pattern, resolve } of [...CHINESE_PATTERNS, { pattern: LASTING, resolve: lasting }]) {
    const match = pattern.exec(raw);
    if (match === null) continue;
    const { day, label } = resolve({ today, ahead, phrase: match[0], groups: match.groups ?? {} });
    return { raw, without: raw.replace(match[0], ''), labelled: raw.replace(match[0], label), validFrom: isoOf(day) };
  }
  return { raw, without: raw, labelled: raw, validFrom: null };
}

function namedInChinese({ today, ahead, groups }: AskedInChinese): Moment {
  const month = Number(groups.month ?? 1) - 1;
  const date = Number(groups.date ?? 1);
  const day =
    groups.year === undefined ? yearless(today, month, { day: date, ahead }) : dayAt(Number(groups.year), month, date);
  if (groups.date !== undefined) return onDayInChinese(day);
  return groups.month === undefined ? inYearInChinese(day) : inMonthInChinese(day);
}

function yearNamed({ today, groups }: AskedInChinese): Moment {
  const year = today.year + (YEARS[groups.which ?? ''] ?? 0);
  if (groups.month === undefined) return inYearInChinese(dayAt(year, 0));
  return inMonthInChinese(dayAt(year, Number(groups.month) - 1));
}

/** Chinese weeks begin on Monday: "上周五" is the Friday of the week before this one. */
function inWeek(asked: AskedInChinese): Moment {
  const said = asked.groups.weekday;
  if (said === undefined) return aboutInChinese(shifted(asked.today, step(asked), 'week'));
  const monday = weekdayFrom(shifted(asked.today, 1, 'day'), 1, -1);
  const weekday = said === '天' ? 0 : said === '末' ? 6 : CHINESE_WEEKDAYS.indexOf(said);
  return onDayInChinese(shifted(shifted(monday, step(asked), 'week'), (weekday + 6) % 7, 'day'));
}

/** "周五" is the one to come, or in a tale the one that has been. */
function bareWeekday({ today, ahead, groups }: AskedInChinese): Moment {
  return onDayInChinese(
    weekdayFrom(today, CHINESE_WEEKDAYS.indexOf((groups.weekday ?? '').replace('天', '日')), ahead ? 1 : -1),
  );
}

function counted(asked: AskedInChinese): Moment {
  const unit = UNITS[asked.groups.unit ?? ''] ?? 'day';
  const count = chineseCountOf(asked.groups.count ?? '') * (asked.groups.way === '后' ? 1 : -1);
  if (!Number.isInteger(count)) return inMonthInChinese(shifted(asked.today, Math.round(count * 12), 'month'));
  const day = shifted(asked.today, count, unit);
  if (unit === 'day') return onDayInChinese(day);
  if (unit === 'week') return aboutInChinese(day);
  return unit === 'month' ? inMonthInChinese(day) : inYearInChinese(day);
}

function lasting(asked: AskedInChinese): Moment {
  const { day } = counted({ ...asked, groups: { ...asked.groups, way: '前' } });
  return { day, label: asked.phrase };
}

const step = (asked: AskedInChinese): number => ({ 上: -1, 下: 1 })[asked.groups.which ?? ''] ?? 0;

/** 三 → 3, 十二 → 12, 二十 → 20, 半 → 0.5, 几 → 3 */
function chineseCountOf(said: string): number {
  if (/^\d+$/u.test(said)) return Number(said);
  if (said === '半') return 0.5;
  if (said === '几') return 3;
  const [tens = '', ones = ''] = said.includes('十') ? said.split('十') : ['none', said];
  const digit = (text: string) => DIGITS.indexOf(text.replace('两', '二').slice(0, 1));
  if (tens === 'none') return digit(ones);
  return (tens === '' ? 1 : digit(tens)) * 10 + (ones === '' ? 0 : digit(ones));
}
