import { describe, expect, it } from 'vitest';
import { isoOf, millisOf, zoneClock } from '../text/dates.ts';
import { beginOf, clockText, saidWhen, timeGiven } from './messages.ts';

const at = (iso: string): number => millisOf(iso) ?? Number.NaN;
const NOON = at('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

describe('a timestamp', () => {
  it('keeps its offset, and with it the day on which it was said', () => {
    const time = timeGiven({ at: at('2026-03-01T00:30:00+09:00'), offset: 540 }, NOON);
    const message = { ...saidWhen(time, { acceptedAt: NOON, seenUntil: 0 }), seq: 1 };
    expect(clockText({ saidAt: message, ...message })).toBe('2026-03-01T00:30:00+09:00');
    expect(isoOf(message.at)).toBe('2026-02-28T15:30:00.000Z');
  });

  it('that is to come counts as said when it is accepted, and is shown as it was given', () => {
    const time = timeGiven({ at: NOON + 3 * HOUR, offset: null }, NOON);
    const { at: said, clock } = saidWhen(time, { acceptedAt: NOON, seenUntil: 0 });
    expect(said).toBe(NOON);
    expect(clockText({ saidAt: { at: said, seq: 1 }, ...(clock && { clock }) })).toBe('2026-03-01T15:00:00.000Z');
  });

  it('that is past is left as it is', () => {
    expect(timeGiven({ at: NOON - HOUR, offset: null }, NOON)).toEqual({ at: NOON - HOUR });
  });
});

describe('what a lane takes while the clock is behind what it has seen', () => {
  const jumped = { acceptedAt: NOON, seenUntil: NOON + 24 * HOUR };

  it('is not older than what was taken before, and shows the time it was said at', () => {
    expect(saidWhen({ at: null }, jumped)).toEqual({ at: jumped.seenUntil, clock: { at: NOON, offset: 0 } });
  });

  it('is not older with a timestamp of just now, either', () => {
    expect(saidWhen({ at: NOON - 1_000 }, jumped).at).toBe(jumped.seenUntil);
  });

  it('stays where it belongs when it was said long ago', () => {
    expect(saidWhen({ at: NOON - 9 * 24 * HOUR }, jumped)).toEqual({ at: NOON - 9 * 24 * HOUR });
  });
});

describe('the time a message names', () => {
  const message = (iso: string, offset: number) => ({
    saidAt: { at: at(iso), seq: 1 },
    clock: { at: at(iso), offset },
  });
  const inTokyo = message('2026-03-01T00:30:00+09:00', 540);

  it('is kept as the first moment of that day in UTC', () => {
    expect(isoOf(beginOf('2026-02-28', inTokyo))).toBe('2026-02-28T00:00:00.000Z');
  });

  it('has come when it is today where the speaker is, also before it is in UTC', () => {
    expect(beginOf('2026-03-01', inTokyo)).toBe(inTokyo.saidAt.at);
    expect(beginOf('2026-03', inTokyo)).toBe(inTokyo.saidAt.at);
    expect(isoOf(beginOf('2026-03-02', inTokyo))).toBe('2026-03-02T00:00:00.000Z');
  });

  it('is one of the speaker’s clock where it has no offset of its own', () => {
    expect(isoOf(beginOf('2026-02-28T18:00:00', inTokyo))).toBe('2026-02-28T09:00:00.000Z');
    expect(isoOf(beginOf('2026-02-28T18:00:00Z', inTokyo))).toBe('2026-02-28T18:00:00.000Z');
  });

  it('is when it was said where it names none', () => {
    expect(beginOf(null, inTokyo)).toBe(inTokyo.saidAt.at);
    expect(beginOf('soon', inTokyo)).toBe(inTokyo.saidAt.at);
  });
});

describe('a zone', () => {
  it('knows summer time, half hours and clocks behind UTC', () => {
    const [oslo, delhi, newYork] = ['Europe/Oslo', 'Asia/Kolkata', 'America/New_York'].map(zoneClock);
    expect([oslo?.(NOON), oslo?.(at('2026-07-01T12:00:00Z'))]).toEqual([60, 120]);
    expect(delhi?.(NOON)).toBe(330);
    expect(newYork?.(NOON)).toBe(-300);
  });

  it('that does not exist has no clock', () => {
    expect(zoneClock('Mars/Base')).toBeNull();
  });
});
