import type { LaneId, Millis, Priority, TenantId } from '../words.ts';
import type { Cancellation } from './tools.ts';

/** The name of one turn: that of its job. */
export interface TurnName {
  readonly lane: LaneId;
  readonly generation: number;
}

/** One turn of a lane that is due at a time: the whole content of a job. */
export interface Nudge extends TurnName {
  readonly tenant: TenantId;
  /** Backfill when only batches of that kind are to be consolidated. */
  readonly priority: Priority;
  readonly dueAt: Millis;
}

/**
 * What the schedule knows of one turn.
 *   absent     it has no job, or none that a worker would ever take: a nudge gives it one
 *   scheduled  it is in line, or will be within a minute
 *   asleep     its job waits for a later time, as a retry does; or because a clock was wrong when it was added
 *   active     a worker has it
 *   finished   its job ended, and a new one under its name would be ignored
 */
export type TurnState = 'absent' | 'scheduled' | 'asleep' | 'active' | 'finished';

/** The writing side of the queue. It holds ids and owns nothing: it may be wiped at any moment. */
export interface Schedule {
  /** Idempotent per (lane, generation). */
  nudge(nudges: readonly Nudge[]): Promise<void>;
  /** One state for each turn, in their order. */
  statesOf(turns: readonly TurnName[]): Promise<readonly TurnState[]>;
  /** A scheduled turn of backfill is taken next, before everything that waits. False when there is no such turn. */
  hurry(turn: TurnName): Promise<boolean>;
  /** Turns of these lanes that were given up are no longer shown as failed. */
  forgetFailed(lanes: readonly LaneId[]): Promise<void>;
  /** Throws when the queue cannot be reached. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** What a worker answers for one job. */
export type Verdict =
  | { readonly kind: 'done'; readonly next: Nudge | null }
  /** Not now; does not count as a failure. */
  | { readonly kind: 'later'; readonly at: Millis }
  /** Given up; shown as failed in the queue, with the reason. */
  | { readonly kind: 'parked'; readonly reason: string; readonly next: Nudge | null };

/** A scope's summary that is behind what was said: ids of the ledger's own, no user's words. */
export interface SummaryRefresh {
  readonly lane: LaneId;
  readonly scope: string;
  /** The sequence of the last message there was when it was asked for; the refresh covers what is there when it begins. */
  readonly upTo: number;
}

/** Work that a consolidation leaves for later. To lose it loses nothing: the next consolidation asks again. */
export interface FollowUps {
  /** Idempotent per (lane, scope, upTo). */
  summarize(refresh: SummaryRefresh): Promise<void>;
  /** The graph's studies of these lanes. Idempotent per lane while it has a job. */
  study(lanes: readonly LaneId[]): Promise<void>;
  /** Nights of the owners of these lanes. Idempotent per lane while it has a job. */
  sleep(lanes: readonly LaneId[]): Promise<void>;
}

/** Throws when the refresh should be tried again; an EngineError that is not retryable ends it. */
export type SummaryHandler = (refresh: SummaryRefresh, cancel: Cancellation) => Promise<void>;

/** Makes a lane's next study. Answers when to come back; null: nothing is left to do. Whatever it throws, it will be retried. */
export type StudyHandler = (lane: LaneId, cancel: Cancellation) => Promise<Millis | null>;

/** Makes a night of a lane's owner. Answers when to come back; null: nothing is left to do. Whatever it throws, it will be retried. */
export type SleepHandler = (lane: LaneId, cancel: Cancellation) => Promise<Millis | null>;

export type TurnHandler = (turn: TurnName, cancel: Cancellation) => Promise<Verdict>;

/** The reading side of the queue: takes due turns and hands them to the handler, `concurrency` at a time. */
export interface TurnWorker {
  /** Takes no new turns, hands the running ones back within the limit, and resolves when none runs. */
  close(): Promise<void>;
}
