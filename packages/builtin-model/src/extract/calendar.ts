import type { Json } from '@slowwave/engine';

/** Calendar days; months count from 0. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export type Unit = 'day' | 'week' | 'month' | 'year';

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
export function dayAt(year: number, month: number, day = 1): Day {
  return dayOf(new Date(Date.UTC(year, month, day)));
}

export function isoOf(day: Day): string {
  return new Date(Date.UTC(day.year, day.month, day.day)).toISOString().slice(0, 10);
}

function weekdayOf(day: Day): number {
  return new Date(Date.UTC(day.year, day.month, day.day)).getUTCDay();
}

/** So many units later, or earlier when negative. */
export function shifted(day: Day, count: number, unit: Unit): Day {
  if (unit === 'day') return dayAt(day.year, day.month, day.day + count);
  if (unit === 'week') return dayAt(day.year, day.month, day.day + 7 * count);
  if (unit === 'month') return dayAt(day.year, day.month + count, day.day);
  return dayAt(day.year + count, day.month, day.day);
}

/** "Last month" and "next year" mean the whole of it, and count from its first day. */
export function startOf(day: Day, unit: Unit): Day {
  if (unit === 'month') return { ...day, day: 1 };
  return unit === 'year' ? { ...day, month: 0, day: 1 } : day;
}

/** The nearest such weekday before (−1) or after (1) a day, never the day itself. */
export function weekdayFrom(day: Day, weekday: number, direction: -1 | 1): Day {
  const ahead = (weekday - weekdayOf(day) + 7) % 7 || 7;
  return shifted(day, direction === 1 ? ahead : ahead - (ahead === 7 ? 14 : 7), 'day');
}

/** A month and day without a year: the last one that has been, or the next one to come. */
export function yearless(today: Day, month: number, options: { readonly day: number; readonly ahead: boolean }): Day {
  const year = dayAt(today.year, month, options.day);
  const later = isoOf(year) > isoOf(today);
  if (options.ahead) return later ? year : dayAt(today.year + 1, month, options.day);
  return later ? dayAt(today.year - 1, month, options.day) : year;
}
