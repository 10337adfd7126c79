import type { Millis, UtcOffset } from '../words.ts';

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
