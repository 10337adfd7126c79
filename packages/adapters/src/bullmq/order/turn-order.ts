import type { Priority } from '@slowwave/engine';

/**
 * The order of turns, as priorities of jobs: the lowest number is taken first, and equal ones as they came.
 *
 * Turns are taken in rounds, one turn of each tenant a round. A turn gets the round after the last one its tenant has a
 * turn in, and never one that has begun: so a tenant with 5,000 waiting turns fills 5,000 rounds to come, and the single
 * turn of another tenant is taken in the next. Of one tenant turns are taken as they came; a lane has one turn at a time
 * and stands at the end again with its next.
 *
 * Live turns and backfill count their rounds apart, and every round of backfill comes after all that are live.
 *
 * Nothing but the order depends on these numbers. Where they are lost, counting begins anew: the turns that wait keep
 * their high numbers, are overtaken for a while, and are found by the sweep if that takes too long.
 */
export interface TurnOrder {
  /** The round of the tenant's next turn; of several, the first of as many in a row. */
  next(priority: Priority, tenant: string, count: number): Promise<number>;
  /** A turn of this round begins: new ones get later rounds. */
  begin(priority: Priority, round: number): Promise<void>;
}

/** The priority of turns that go before all others: handed back by a worker that stops, or in need of hurry. Never 0. */
export const FRONT = 1;
/** The first round is the one after it. */
export const BEFORE_FIRST = 2;
/** Half of what the library can count to (2^21): live rounds are below, rounds of backfill above. */
const BACKFILL = 2 ** 20;
/**
 * Of turns that have waited for a time: workers that are busy give them their place when they are due, for they have
 * overslept theirs. Until then they stand behind all that is live, and are taken at once where nothing is.
 */
export const UNPLACED = BACKFILL - 1;
/** When a tenant gets this far, counting begins anew. */
export const LAST_ROUND = UNPLACED - 1;
/** No tenant has so many turns waiting: a number so far ahead is from before counting began anew. */
export const FAR_AHEAD = 2 ** 19;

export const jobPriority = (priority: Priority, round: number): number =>
  priority === 'live' ? round : BACKFILL + round;

/** The round a job stands in; null for one that has no place. */
export function roundOf(jobPriority: number): { readonly priority: Priority; readonly round: number } | null {
  if (jobPriority <= BEFORE_FIRST || jobPriority === UNPLACED) return null;
  return jobPriority < BACKFILL
    ? { priority: 'live', round: jobPriority }
    : { priority: 'backfill', round: jobPriority - BACKFILL };
}
