import type { Millis, UtcOffset } from '../words.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;
const SECOND = 1_000;

/** 2026-03-09T10:00:00.000Z. Years 0001 to 9999. */
export function isoOf(at: Millis): string {
  const days = Math.floor(at / DAY);
  const rest = at - days * DAY;
  const { year, month, day } = dateOf(days);
  const clock = [Math.floor(rest / HOUR), Math.floor((rest % HOUR) / MINUTE), Math.floor((rest % MINUTE) / SECOND)];
  const fraction = String(rest % SECOND).padStart(3, '0');
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock.map(two).join(':')}.${fraction}Z`;
}

/** The same moment as a clock shows it that is ahead of UTC: 2026-03-09T19:00:00+09:00. */
export function localIsoOf(at: Millis, offset: UtcOffset | undefined): string {
  if (offset === undefined || offset === 0) return isoOf(at);
  const size = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return isoOf(at + offset * MINUTE)
    .replace('.000Z', 'Z')
    .replace('Z', zone);
}

/** Days are kept as their first moment in UTC, wherever they were named: their date is the same for everybody. */
export const isDay = (at: Millis): boolean => at % DAY === 0;

/** The same for what may be a day. */
export const shownIsoOf = (at: Millis, offset: UtcOffset | undefined): string =>
  isDay(at) ? isoOf(at) : localIsoOf(at, offset);

/** The date of a day, or of a moment where it was said, else in UTC: 2026-03-09. */
export const dateTextOf = (at: Millis, offset?: UtcOffset): string =>
  isoOf(isDay(at) ? at : at + (offset ?? 0) * MINUTE).slice(0, 'yyyy-mm-dd'.length);

const MOMENT =
  /^(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?$/u;

/**
 * The moment an ISO 8601 text names, as exact as it is: a year is its first moment, in UTC. A time of day without an offset
 * of its own is one of the local time given. null when it names none.
 */
export function millisOf(text: string, offset: UtcOffset = 0): Millis | null {
  const found = MOMENT.exec(text.trim());
  if (found === null) return null;
  const part = (i: number, missing: number): number => (found[i] === undefined ? missing : Number(found[i]));
  const [year, month, day] = [part(1, 0), part(2, 1), part(3, 1)];
  const [hour, minute, second] = [part(4, 0), part(5, 0), part(6, 0)];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > monthDays(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const fraction = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3));
  const clock = hour * HOUR + minute * MINUTE + second * SECOND + fraction;
  const ahead = found[8] === undefined ? (found[4] === undefined ? 0 : offset * MINUTE) : offsetOf(found[8]);
  return daysOf(year, month, day) * DAY + clock - ahead;
}

/** A day where a clock is ahead of UTC, with by how much: 2026-03-09, UTC+09:00. */
export function dayInZone(at: Millis, offset: UtcOffset): string {
  const zone = offset === 0 ? '' : localIsoOf(at, offset).slice(-'+hh:mm'.length);
  return `${dateTextOf(at + offset * MINUTE)}, UTC${zone}`;
}

const two = (number: number): string => String(number).padStart(2, '0');

function offsetOf(zone: string): Millis {
  if (zone === 'Z') return 0;
  const digits = zone.replace(':', '');
  const size = Number(digits.slice(1, 3)) * HOUR + Number(digits.slice(3, 5)) * MINUTE;
  return digits.startsWith('-') ? -size : size;
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const monthDays = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Days since 1970-01-01 in the proleptic Gregorian calendar; a year begins in March here, so leap days come last. */
function daysOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function dateOf(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth + (marchMonth < 10 ? 3 : -9);
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1 };
}

export const DAY_MS = 86_400_000;

/** Days are those of UTC, wherever a process runs. */
export const dayOf = (at: Millis): number => Math.floor(at / DAY_MS);

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
/** From the first day of 1970 on. */
const WEEKDAYS = 'Thursday Friday Saturday Sunday Monday Tuesday Wednesday'.split(' ');
const WEEKDAYS_HAN = '四五六日一二三';

/** A day (UTC) in the words that questions name it by: 2023-05-07 7 7th May Sunday. */
export function dayText(at: Millis): string {
  const [date, month, day] = partsOf(at);
  return `${date} ${day} ${day}${ordinalOf(day)} ${MONTHS[month - 1]} ${WEEKDAYS[weekdayOf(at)]}`;
}

/** The same where what was said is Chinese: 2023年5月7日 星期日. */
export function dayTextHan(at: Millis): string {
  const [date, month, day] = partsOf(at);
  return `${Number(date.slice(0, 4))}年${month}月${day}日 星期${WEEKDAYS_HAN[weekdayOf(at)]}`;
}

function partsOf(at: Millis): [date: string, month: number, day: number] {
  const date = dateTextOf(at);
  return [date, Number(date.slice(5, 7)), Number(date.slice(8))];
}

const weekdayOf = (at: Millis): number => ((dayOf(at) % 7) + 7) % 7;

function ordinalOf(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}

const OFFSET = /^GMT(?:([+-])(\d{2}):(\d{2})(?::\d{2})?)?$/u;

/** How far the clocks of a zone (Europe/Oslo) are ahead of UTC at a moment, summer time included; null: there is no such zone. */
export function zoneClock(zone: string): ((at: Millis) => UtcOffset) | null {
  const format = formatOf(zone);
  if (format === null) return null;
  return (at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes] = OFFSET.exec(name) ?? [];
    const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
    return sign === '-' ? -size : size;
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return null;
  }
}

const WRITTEN = /T.*([+-])(\d{2}):?(\d{2})$/u;

/** The offset that an ISO 8601 text has; Z, which says nothing about where somebody is, has none. */
export function writtenOffset(iso: string): UtcOffset | null {
  const [, sign, hours, minutes] = WRITTEN.exec(iso) ?? [];
  if (hours === undefined) return null;
  const size = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -size : size;
}

const STAMP = '(\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?\\s?(?:Z|[+-]\\d{2}:?\\d{2})?)?)';
const STAMPED_BEFORE = new RegExp(`^([([]?)${STAMP}([)\\]:]{0,2}) ?(?:[–—-] ?)?(\\S.*)$`, 'su');
const STAMPED_BEHIND = new RegExp(`^(.*[^\\s,;([–—-])([,;\\s([–—-]*)${STAMP}[)\\]]?[.!?]?$`, 'su');
const [DATE, MINUTES] = ['yyyy-mm-dd'.length, 'yyyy-mm-ddThh:mm'.length];

/**
 * A sentence without a time that stands before or behind it and apart from it, where that is one of these ISO 8601 texts: a date
 * alone only where nothing reads on to it.
 */
export function withoutStamp(text: string, times: readonly string[]): string {
  if (!/\d{4}-\d\d-\d\d/u.test(text)) return text;
  const isOne = (stamp: string, isApart: boolean): boolean => {
    const length = stamp.length > DATE ? MINUTES : DATE;
    const said = stamp.slice(0, length).replace(' ', 'T');
    return (length > DATE || isApart) && times.some((time) => time.startsWith(said));
  };
  const [, open = '', first = '', close = '', rest = ''] = STAMPED_BEFORE.exec(text) ?? [];
  if (isOne(first, open + close !== '')) return rest;
  const [, said = '', between = '', last = ''] = STAMPED_BEHIND.exec(text) ?? [];
  const endsSentence = /[.!?。！？]$/u.test(said);
  const isApart = endsSentence || /[^\s]/u.test(between);
  return isApart && isOne(last, endsSentence) ? said : text;
}
