import type { Millis } from '@slowwave/engine';
import { CLOCK_AHEAD_MS, CLOCK_NOTED_MS } from '@slowwave/engine/storing';

export const clockParams = (now: number) => ({ now, ahead: now + CLOCK_AHEAD_MS });

/** `unpaused` is how a dialect says it in the index of due lanes. */
const LATER_LANES = (unpaused: string): string => `state <> 'idle' AND ${unpaused} AND due_at > @now`;

/** Lanes that took messages from a clock that was ahead. */
export const lanesAhead = (unpaused: string): string =>
  `${LATER_LANES(unpaused)} AND state = 'waiting' AND newest_at > @ahead`;

export const hastenLanes = (unpaused: string, { all }: { all: boolean }): string => `
  UPDATE lanes SET due_at = @now,
    newest_at = CASE WHEN newest_at > @now THEN @now ELSE newest_at END,
    oldest_at = CASE WHEN oldest_at > @now THEN @now ELSE oldest_at END
  WHERE ${all ? LATER_LANES(unpaused) : lanesAhead(unpaused)}`;

/** What else waits for a time: all of it is tried again when it is due, so that too early costs a try and loses nothing. */
export const HASTEN_OTHERS: readonly string[] = [
  `UPDATE graph_studies SET not_before = @now WHERE state = 'pending' AND not_before > @now`,
  'UPDATE graph_turns SET held_until = @now WHERE held_until > @now',
  `UPDATE webhook_deliveries SET due_at = @now WHERE state = 'waiting' AND due_at > @now`,
  // The space of one that is over waits to be thrown away, and for that it is too early.
  `UPDATE replays SET due_at = @now WHERE state NOT IN ('done', 'failed') AND due_at > @now`,
  'UPDATE untold_lanes SET not_before = @now WHERE not_before > @now',
  `UPDATE meta SET value = @shown WHERE key = 'clock_seen'`,
];

/** The latest moment that a worker's clock has shown, as text like all in this table. */
export const CLOCK_SEEN = `SELECT value FROM meta WHERE key = 'clock_seen'`;

export const NOTE_CLOCK = `
  INSERT INTO meta (key, value) VALUES ('clock_seen', @shown) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

export const clockShown = (row: { readonly value: string } | null): Millis | null =>
  row === null ? null : Number(row.value);

/** The latest that is noted, and whether it is time to note what a clock shows now. */
export function clockNoted(row: { readonly value: string } | null, now: number): { latest: number; isDue: boolean } {
  const noted = clockShown(row) ?? Number.NEGATIVE_INFINITY;
  const isDue = now >= noted + CLOCK_NOTED_MS;
  return { latest: isDue ? now : noted, isDue };
}
