import type { Millis } from '@slowwave/engine';
import { CLOCK_AHEAD_MS, CLOCK_NOTED_MS } from '@slowwave/engine/storing';
import { asLookup, asRead, asWrite } from './access.ts';
import { first, run, type Script } from './script.ts';

interface At {
  readonly now: Millis;
}

/** Whether a lane took messages from a clock that was ahead. */
export const isAnyAhead = asRead('lanes.isAnyAhead', function* ({ now }: At): Script<boolean> {
  const text = `SELECT 1 AS found FROM lanes WHERE ${LANES_AHEAD} LIMIT 1`;
  return (yield* first(text, { now, ahead: now + CLOCK_AHEAD_MS })) !== null;
});

interface SetBack extends At {
  readonly all: boolean;
}

/** How many lanes are due now that waited for a time that a clock named while it was ahead. */
export const clockSetBack = asWrite('lanes.clockSetBack', function* ({ now, all }: SetBack): Script<number> {
  if (!all) return yield* run(`${HASTEN_LANES} WHERE ${LANES_AHEAD}`, { now, ahead: now + CLOCK_AHEAD_MS });
  for (const statement of HASTEN_OTHERS) yield* run(statement, { now, shown: String(now) });
  return yield* run(`${HASTEN_LANES} WHERE ${LATER_LANES}`, { now });
});

const LATER_LANES = `state <> 'idle' AND NOT paused AND due_at > @now`;

/** Lanes that took messages from a clock that was ahead. */
const LANES_AHEAD = `${LATER_LANES} AND state = 'waiting' AND newest_at > @ahead`;

const HASTEN_LANES = `
  UPDATE lanes SET due_at = @now,
    newest_at = CASE WHEN newest_at > @now THEN @now ELSE newest_at END,
    oldest_at = CASE WHEN oldest_at > @now THEN @now ELSE oldest_at END`;

/** What else waits for a time: all of it will be retried when it is due, so that too early costs a try and loses nothing. */
const HASTEN_OTHERS: readonly string[] = [
  `UPDATE graph_studies SET not_before = @now WHERE state = 'pending' AND not_before > @now`,
  'UPDATE graph_turns SET held_until = @now WHERE held_until > @now',
  `UPDATE webhook_deliveries SET due_at = @now WHERE state = 'waiting' AND due_at > @now`,
  // The space of one that is over waits to be thrown away, and for that it is too early.
  `UPDATE replays SET due_at = @now WHERE state NOT IN ('done', 'failed') AND due_at > @now`,
  'UPDATE unprojected_lanes SET not_before = @now WHERE not_before > @now',
  `UPDATE meta SET value = @shown WHERE key = 'clock_seen'`,
];

/** The latest moment that a worker's clock has shown; null: none has shown any. */
export const clockSeen = asLookup('lanes.clockSeen', function* (_: null): Script<Millis | null> {
  const row = yield* first<{ value: string }>(`SELECT value FROM meta WHERE key = 'clock_seen'`);
  return row === null ? null : Number(row.value);
});

export const isTimeToNote = (latest: Millis, now: Millis): boolean => now >= latest + CLOCK_NOTED_MS;

/** As text, like all in this table. */
export const noteClock = asWrite('lanes.noteClock', function* ({ now }: At): Script<void> {
  yield* run(
    `INSERT INTO meta (key, value) VALUES ('clock_seen', @shown)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    { shown: String(now) },
  );
});
