import type { SleepSettings } from '../settings.ts';
import { zoneClock } from '../text/dates.ts';
import type { Millis } from '../words.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** Whether nights are begun now. One that is under way when the window closes goes on to its end. */
export function isNight({ window }: Pick<SleepSettings, 'window'>, now: Millis): boolean {
  if (window === null) return true;
  const ahead = zoneClock(window.timezone)?.(now) ?? 0;
  const minutes = Math.floor(now / MINUTE_MS + ahead) % DAY_MINUTES;
  const [from, to] = [minutesOf(window.from), minutesOf(window.to)];
  return from < to ? from <= minutes && minutes < to : from <= minutes || minutes < to;
}

/** Of "22:30". */
function minutesOf(clock: string): number {
  const [hours, minutes] = clock.split(':');
  return Number(hours) * 60 + Number(minutes);
}
