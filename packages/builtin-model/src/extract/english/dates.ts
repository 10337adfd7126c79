import { type Day, dayAt, isoOf, shifted, startOf, type Unit, weekdayFrom, yearless } from '../calendar.ts';
import type { Dated } from '../sentences.ts';

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
