import type { DuePolicy, Lane, LaneId, Millis, Nudge, Pause, Priority, TenantId } from '@slowwave/engine';
import { paceWith, pausedAtOf, silenceOf } from '@slowwave/engine/storing';
import type { Posted } from './rows/batch.ts';
import { type OwnerColumns, ownerFrom } from './rows/columns.ts';

/**
 * The life of a lane, as pure steps from one row to the next. Scripts lock a row, take a step, save it.
 *
 *   idle           no batch waits; due_at is null.
 *                  append, replay            → waiting, generation + 1, nudge
 *   waiting        pending > 0, due_at says when; a job for `generation` is or will be scheduled.
 *                  append                    → waiting, due_at later (lazy: the job finds "not due yet") or,
 *                                              when it comes earlier, generation + 1 and nudge; the same when it is
 *                                              the first live batch among backfill, whose job runs behind all others
 *                  flush, replay             → waiting, due now: generation + 1 and nudge, unless it was due already
 *                  raise                     → waiting, generation + 1
 *                  claim                     → consolidating, epoch + 1, a window pinned
 *   consolidating  consolidation_id names the pinned window; due_at is when it was or is to be claimed.
 *                  append, flush, replay     only count; what was flushed is remembered in flush_through
 *                  claim (same generation)   → consolidating, epoch + 1, the same window
 *                  fail with tries left      → consolidating, due_at = the time of the next try
 *                  release                   → consolidating, due_at as given
 *                  raise                     → consolidating, generation + 1
 *                  apply, park               → waiting, generation + 1, nudge; or idle when nothing waits
 *                  split                     → waiting, due now, generation + 1, nudge, window_limit set
 *                  unpin                     → waiting, due now, generation + 1, epoch + 1
 *
 * A lane can be held besides, for the undo of a canary: it goes on as above, but no claim finds it, and it is never due.
 * Invariants: consolidation_id is set exactly while consolidating. `generation` and `epoch` never fall. Of two claims
 * only the one with the higher epoch may write. flush_through > 0 exactly while a flushed batch waits.
 */
interface Step {
  readonly lane: LaneRow;
  readonly nudge: Nudge | null;
}

/** What waits in a lane, counted from its batches. */
export interface Waiting {
  readonly pending: number;
  readonly pending_tokens: number;
  readonly pending_exchanges: number;
  readonly pending_backfill: number;
  readonly oldest_at: Millis | null;
  readonly newest_at: Millis | null;
  readonly first_position: number | null;
}

export const NOTHING_WAITS: Waiting = {
  pending: 0,
  pending_tokens: 0,
  pending_exchanges: 0,
  pending_backfill: 0,
  oldest_at: null,
  newest_at: null,
  first_position: null,
};

/** One batch more waits. */
export function append(lane: LaneRow, { batch, messageCount, exchanges }: Posted, policy: DuePolicy): Step {
  const { acceptedAt } = batch;
  const longer: LaneRow = {
    ...lane,
    next_position: lane.next_position + 1,
    next_seq: lane.next_seq + messageCount,
    pending: lane.pending + 1,
    pending_tokens: lane.pending_tokens + batch.tokens,
    pending_exchanges: lane.pending_exchanges + exchanges,
    pending_backfill: lane.pending_backfill + (batch.priority === 'backfill' ? 1 : 0),
    oldest_at: lane.pending === 0 ? acceptedAt : Math.min(lane.oldest_at ?? acceptedAt, acceptedAt),
    newest_at: lane.pending === 0 ? acceptedAt : Math.max(lane.newest_at ?? acceptedAt, acceptedAt),
    pace_ms: paceWith({ pace: lane.pace_ms, newestAt: lane.newest_at }, { ...batch, exchanges }, policy),
    flush_through: batch.flush ? lane.next_position : lane.flush_through,
    updated_at: Math.max(lane.updated_at, acceptedAt),
  };
  return schedule(longer, dueOf(longer, policy, acceptedAt));
}

/** Everything that waits up to `through` is due now. */
export function flush(lane: LaneRow, through: number, now: Millis): Step {
  return schedule({ ...lane, flush_through: Math.max(lane.flush_through, through) }, atOnce(lane, now));
}

/** A worker takes the lane: with a new window when `consolidationId` is not the pinned one. */
export function claim(lane: LaneRow, consolidationId: string): LaneRow {
  return {
    ...lane,
    state: 'consolidating',
    epoch: lane.epoch + 1,
    consolidation_id: consolidationId,
    window_limit: null,
  };
}

/** A try failed: the pinned window is tried again at `at`. */
export function retry(lane: LaneRow, at: Millis): LaneRow {
  return { ...lane, due_at: at, attempts: lane.attempts + 1 };
}

/** The pinned window is given back unharmed. */
export function release(lane: LaneRow, dueAt: Millis): LaneRow {
  return { ...lane, due_at: dueAt };
}

/** The pinned window is done with; the lane goes on with what waits. */
export function finish(lane: LaneRow, policy: DuePolicy, now: Millis): Step {
  const free: LaneRow = { ...lane, state: 'idle', consolidation_id: null, due_at: null, attempts: 0 };
  return free.pending === 0 ? { lane: free, nudge: null } : schedule(free, dueOf(free, policy, now));
}

/** The pinned window, up to position `through`, goes back to those that wait: due already, `limit` batches at a time. */
export function split(lane: LaneRow, { limit, through, now }: { limit: number; through: number; now: Millis }): Step {
  const free: LaneRow = { ...lane, state: 'idle', consolidation_id: null, attempts: 0, window_limit: limit };
  return flush(free, through, now);
}

/** The pinned window, up to position `through`, goes back to those that wait; whoever works on it may write no more. */
export function unpin(lane: LaneRow, { through, now }: { through: number; now: Millis }): LaneRow {
  const free: LaneRow = { ...lane, state: 'idle', epoch: lane.epoch + 1, consolidation_id: null, attempts: 0 };
  return flush(free, through, now).lane;
}

/** The job of the current generation is gone; another one takes its place. */
export function raise(lane: LaneRow): Step {
  const nudged_backfill = priorityOf(lane) === 'backfill' ? 1 : 0;
  const raised: LaneRow = { ...lane, generation: lane.generation + 1, nudged_backfill };
  return { lane: raised, nudge: nudgeFrom(raised) };
}

/** Counters as the batches say. */
export function recount(lane: LaneRow, { first_position, ...waiting }: Waiting): LaneRow {
  const flushed = first_position !== null && first_position <= lane.flush_through;
  const newest_at = waiting.newest_at ?? lane.newest_at;
  return { ...lane, ...waiting, newest_at, flush_through: flushed ? lane.flush_through : 0 };
}

/**
 * Nudges when the lane was idle, or becomes due earlier than the job that is already scheduled would come, or when that
 * job would run behind all that is live and must not any more.
 */
function schedule(lane: LaneRow, dueAt: Millis): Step {
  if (lane.state === 'consolidating') return { lane, nudge: null };
  const planned = lane.state === 'waiting' ? lane.due_at : null;
  const waiting: LaneRow = { ...lane, state: 'waiting', due_at: dueAt };
  const livelier = waiting.nudged_backfill === 1 && priorityOf(waiting) === 'live';
  return planned !== null && planned <= dueAt && !livelier ? { lane: waiting, nudge: null } : raise(waiting);
}

function dueOf(lane: LaneRow, policy: DuePolicy, now: Millis): Millis {
  const { tokens, exchanges = Number.POSITIVE_INFINITY, maxAgeMs } = policy;
  const full = lane.flush_through > 0 || lane.pending_tokens >= tokens || lane.pending_exchanges >= exchanges;
  if (full) return atOnce(lane, now);
  // What was accepted later than now was accepted by a clock that was ahead: nobody waits for it to be right again.
  const by = (at: Millis | null): Millis => Math.min(at ?? now, now);
  const silence = silenceOf({ pace: lane.pace_ms, isLive: lane.pending > lane.pending_backfill }, policy);
  return Math.min(by(lane.newest_at) + silence, by(lane.oldest_at) + maxAgeMs);
}

/** Now, or since when a waiting lane has been due already. */
function atOnce(lane: LaneRow, now: Millis): Millis {
  return lane.state === 'waiting' ? Math.min(lane.due_at ?? now, now) : now;
}

/** A lane as it is stored. */
export interface LaneRow extends OwnerColumns {
  readonly number: number;
  readonly id: LaneId;
  readonly tenant: TenantId;
  readonly state: Lane['state'];
  readonly generation: number;
  readonly epoch: number;
  /** Whose window is pinned; null unless consolidating. */
  readonly consolidation_id: string | null;
  /** No claim before this; null while idle. */
  readonly due_at: Millis | null;
  /** The erasure that has cut it off from its owner; null while it stands. */
  readonly erasure: string | null;
  readonly next_position: number;
  readonly next_seq: number;
  /** Batches that wait, without the pinned ones. */
  readonly pending: number;
  readonly pending_tokens: number;
  readonly pending_exchanges: number;
  /** Those of them that are backfill. */
  readonly pending_backfill: number;
  /** Whether the job of this generation was to run behind all that is live. */
  readonly nudged_backfill: 0 | 1;
  readonly oldest_at: Millis | null;
  /** While none waits, of the last that did; null: there was none. */
  readonly newest_at: Millis | null;
  /** How long its owner usually lets pass before saying something; null: nobody knows yet. */
  readonly pace_ms: Millis | null;
  /** When its owner wanted nothing remembered, as JSON; null: never. */
  readonly pauses: string | null;
  /** Batches up to this position are due at once; 0 when none of those waits. */
  readonly flush_through: number;
  /** How many batches the next window may pin, after a split. */
  readonly window_limit: number | null;
  /** Failed tries of the pinned window. */
  readonly attempts: number;
  /** The canary for whose undo no turn is claimed; null: turns are. */
  readonly held: string | null;
  /** Up to this position batches are consolidated in the windows that they had before they were undone. */
  readonly kept_windows: number;
  /** The segment that has all of it while its owner sleeps; null: this ledger has. */
  readonly cold: string | null;
  /** When its owner woke last; null: it never slept. */
  readonly woken_at: Millis | null;
  /** No work of the owner begins before this. */
  readonly leaving_until: Millis;
  readonly created_at: Millis;
  readonly updated_at: Millis;
}

export const laneFrom = (row: LaneRow): Lane => ({
  id: row.id,
  tenant: row.tenant,
  owner: ownerFrom(row),
  state: row.state,
  generation: row.generation,
  epoch: row.epoch,
  pending: row.pending,
  dueAt: row.due_at,
  attempts: row.attempts,
  lastMessage: row.next_seq - 1,
  pausedAt: pausedAtOf(pausesFrom(row)),
  cold: row.cold,
});

export const pausesFrom = ({ pauses }: Pick<LaneRow, 'pauses'>): readonly Pause[] =>
  pauses === null ? [] : JSON.parse(pauses);

/** What names the turn a lane with work waits for. */
export const NUDGE_COLUMNS = 'id, tenant, state, generation, due_at, pending, pending_backfill, nudged_backfill';
type NudgeRow = Pick<
  LaneRow,
  'id' | 'tenant' | 'state' | 'generation' | 'due_at' | 'pending' | 'pending_backfill' | 'nudged_backfill'
>;

/** The turn a lane with work waits for. */
export const nudgeFrom = (row: NudgeRow): Nudge => ({
  lane: row.id,
  tenant: row.tenant,
  generation: row.generation,
  priority: priorityOf(row),
  dueAt: row.due_at ?? 0,
});

/** Live as soon as one live batch waits. A pinned window stays what it was when it was taken. */
function priorityOf(row: NudgeRow): Priority {
  if (row.pending > row.pending_backfill) return 'live';
  const live = row.state === 'consolidating' && row.nudged_backfill === 0;
  return live ? 'live' : 'backfill';
}
