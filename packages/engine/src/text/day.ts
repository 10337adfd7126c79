import type { Millis } from '../words.ts';
import { isoOf } from './iso.ts';

const DAY_MS = 86_400_000;
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
  const date = isoOf(at).slice(0, 'yyyy-mm-dd'.length);
  return [date, Number(date.slice(5, 7)), Number(date.slice(8))];
}

const weekdayOf = (at: Millis): number => ((Math.floor(at / DAY_MS) % 7) + 7) % 7;

function ordinalOf(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
