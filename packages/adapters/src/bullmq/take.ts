import { jobTimeoutMs, QUEUES } from '@slowwave/contracts';
import {
  EngineError,
  type ErasureHandler,
  type Log,
  type Millis,
  type Nudge,
  type SleepHandler,
  type StudyHandler,
  type SummaryHandler,
  type SummaryRefresh,
  type TurnHandler,
  type TurnName,
  type Verdict,
} from '@slowwave/engine';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { timeLimit } from '../system/system.ts';
import { laneOf, refreshOf, type Turn, turnOf } from './add.ts';
import { FRONT, roundOf, type TurnOrder, UNPLACED } from './jobs.ts';

/** What a job is worked with. */
export interface Work<Handler> {
  readonly handler: Handler;
  isClosing(): boolean;
  /** The timeout of one model call, which that of a job follows. */
  readonly modelTimeoutMs: number;
  readonly log: Log;
}

interface TurnWork extends Work<TurnHandler> {
  /** Whether it may begin. */
  place(job: Job, turn: Turn): Promise<Place>;
  /** Never throws. */
  nudgeNext(next: Nudge | null): Promise<void>;
}

/** After a handler that threw: long enough not to spin, short enough that nobody waits for it. */
const AFTER_THROW_MS = 5_000;

/**
 * Works one job: it ends completed (done), failed (parked), or goes back to wait (later, thrown, cancelled).
 * Whatever the handler does, the turn is never lost.
 */
export async function workTurn(taken: Taken, work: TurnWork): Promise<void> {
  const turn = parseTurn(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (work.isClosing()) return handBack(taken, work.log, { at: Date.now() });
  // Without an order turns begin as they come: it must never be the reason that one does not.
  const place = await work.place(taken.job, turn).catch(() => BEGINS);
  if (work.isClosing() || taken.signal?.aborted === true) return handBack(taken, work.log, { at: Date.now() });
  if (place.kind === 'waits') return handBack(taken, work.log, { at: place.until });
  const verdict = await judge(turn, taken, work);
  switch (verdict.kind) {
    case 'done':
      return work.nudgeNext(verdict.next);
    case 'later':
      return handBack(taken, work.log, { at: verdict.at, priority: priorityOf(taken) });
    case 'parked':
      await work.nudgeNext(verdict.next);
      throw new UnrecoverableError(verdict.reason);
  }
}

const BEGINS: Place = { kind: 'begins' };

/** A turn whose worker stops was in its place and is taken next; one that comes later finds its place then. */
const priorityOf = ({ signal }: Taken): number => (signal?.aborted === true ? FRONT : UNPLACED);

/** A payload of another program or release: failed, for an operator to see; the ledger knows the lane anyway. */
function parseTurn(job: Job): Turn {
  try {
    return turnOf(job);
  } catch (error) {
    throw new UnrecoverableError(
      `expected a lane and a generation as the payload, got something else: ${messageOf(error)}`,
    );
  }
}

/** What the handler says; a handler that throws says "later". */
async function judge(turn: Turn, taken: Taken, work: TurnWork): Promise<Verdict> {
  const timeoutMs = jobTimeoutMs('consolidate', work.modelTimeoutMs);
  const limit = timeLimit(taken.signal, { timeoutMs, tooLong: TURN_TOO_LONG });
  try {
    return await work.handler({ lane: turn.lane, generation: turn.generation }, limit.signal);
  } catch (error) {
    const fields = { lane: turn.lane, generation: turn.generation, error: messageOf(error) };
    if (taken.signal?.aborted === true) {
      work.log.info(fields, 'a cancelled turn goes back to the queue');
      return { kind: 'later', at: Date.now() };
    }
    work.log.error(
      fields,
      limit.signal.aborted ? TURN_TOO_LONG(timeoutMs) : 'a turn failed unexpectedly; it will be retried',
    );
    return { kind: 'later', at: Date.now() + AFTER_THROW_MS };
  } finally {
    limit.clear();
  }
}

const TURN_TOO_LONG = (ms: number): string =>
  `a turn was cancelled after ${ms} ms, the limit of one turn; it will be retried`;

/** What becomes of a turn that a worker has taken. */
export type Place =
  | { readonly kind: 'begins' }
  /** Its lane is due later than its job thought. */
  | { readonly kind: 'waits'; readonly until: Millis };

interface Line {
  readonly order: TurnOrder;
  /** When the lane is due, as the ledger says. */
  readonly dueAt: (turn: TurnName) => Promise<Millis>;
}

/** A turn that stood in line begins, and its round with it. One without a round is taken only where no live turn waits. */
export async function findPlace(job: Job, turn: Turn, { order, dueAt }: Line): Promise<Place> {
  const place = roundOf(job.priority);
  if (place !== null) {
    await order.begin(place.priority, place.round);
    return BEGINS;
  }
  const until = await dueAt(turn);
  return until > Date.now() ? { kind: 'waits', until } : BEGINS;
}

/** Works one job. What the handler throws counts as a try, unless the worker stops or the provider named a time. */
export async function workRefresh(taken: Taken, work: Work<SummaryHandler>): Promise<void> {
  const refresh = parseRefresh(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (work.isClosing()) return handBack(taken, work.log, { at: Date.now() });
  const limit = timeLimit(taken.signal, {
    timeoutMs: jobTimeoutMs('summarize', work.modelTimeoutMs),
    tooLong: REFRESH_TOO_LONG,
  });
  try {
    await work.handler(refresh, limit.signal);
  } catch (error) {
    return await endRefresh(taken, work, { refresh, error });
  } finally {
    limit.clear();
  }
}

/** When work comes too early and nobody says how much. */
const WAIT_MS = 5_000;

const REFRESH_TOO_LONG = (ms: number): string => `a refresh was cancelled after ${ms} ms, the limit of one refresh`;

function parseRefresh(job: Job): SummaryRefresh {
  try {
    return refreshOf(job);
  } catch (error) {
    throw new UnrecoverableError(
      `expected a lane, a scope and a sequence as the payload, got something else: ${messageOf(error)}`,
    );
  }
}

async function endRefresh(
  taken: Taken,
  { log }: Work<SummaryHandler>,
  { refresh, error }: { refresh: SummaryRefresh; error: unknown },
): Promise<never> {
  if (taken.signal?.aborted === true) return handBack(taken, log, { at: Date.now() });
  const fields = { ...refresh, error: messageOf(error) };
  if (error instanceof EngineError && !error.countsAsTry) {
    log.info(fields, 'a summary refresh is waiting');
    return handBack(taken, log, { at: Date.now() + (error.retryAfterMs ?? WAIT_MS) });
  }
  log.warn(fields, 'a summary refresh failed');
  if (!(error instanceof EngineError)) throw error;
  if (!error.retryable) throw new UnrecoverableError(error.message);
  if (error.retryAfterMs !== null) return handBack(taken, log, { at: Date.now() + error.retryAfterMs });
  throw error;
}

/** Work of a lane that goes back to wait until the lane has none left. */
interface LaneWork {
  readonly queue: 'study' | 'sleep';
  /** What one is called. */
  readonly what: string;
}

/** Works one job: it ends when its lane has no study left, and goes back to wait until then. */
export const workStudy = (taken: Taken, work: Work<StudyHandler>): Promise<void> =>
  workLane(taken, work, { queue: 'study', what: 'a study' });

/** The same of nights. */
export const workNight = (taken: Taken, work: Work<SleepHandler>): Promise<void> =>
  workLane(taken, work, { queue: 'sleep', what: 'a night' });

async function workLane(
  taken: Taken,
  { handler, isClosing, modelTimeoutMs, log }: Work<StudyHandler | SleepHandler>,
  { queue, what }: LaneWork,
): Promise<void> {
  const lane = laneOf(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (isClosing()) return handBack(taken, log, { at: Date.now() });
  const tooLong = (ms: number): string => `${what} was cancelled after ${ms} ms, the limit of one`;
  const limit = timeLimit(taken.signal, { timeoutMs: jobTimeoutMs(queue, modelTimeoutMs), tooLong });
  let again: number | null;
  try {
    again = await handler(lane, limit.signal);
  } catch (error) {
    if (taken.signal?.aborted === true) return await handBack(taken, log, { at: Date.now() });
    log.warn({ lane, error: messageOf(error) }, `${what} failed unexpectedly; it will be retried`);
    return await handBack(taken, log, { at: Date.now() + AFTER_THROW_MS });
  } finally {
    limit.clear();
  }
  if (again !== null) return handBack(taken, log, { at: again });
}

/** After a failure: long enough not to spin. There is no giving up: an erasure is tried until it is done. */
const AFTER_FAILURE_MS = 10_000;

const ERASURE_TOO_LONG = (ms: number): string =>
  `an erasure was put back after ${ms} ms; it will continue where it stopped`;

/** Works one job: it ends when the erasure is over, and goes back to wait until then. */
export async function workErasure(
  taken: Taken,
  { handler, isClosing, modelTimeoutMs, log }: Work<ErasureHandler>,
): Promise<void> {
  const erasure = erasureOf(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (isClosing()) return handBack(taken, log, { at: Date.now() });
  const limit = timeLimit(taken.signal, {
    timeoutMs: jobTimeoutMs('erase', modelTimeoutMs),
    tooLong: ERASURE_TOO_LONG,
  });
  let again: number | null;
  try {
    again = await handler(erasure, limit.signal);
  } catch (error) {
    if (taken.signal?.aborted === true || limit.signal.aborted) return await handBack(taken, log, { at: Date.now() });
    log.warn({ erasure, error: messageOf(error) }, 'an erasure could not continue; it will be retried');
    return await handBack(taken, log, { at: Date.now() + AFTER_FAILURE_MS });
  } finally {
    limit.clear();
  }
  if (again !== null) return handBack(taken, log, { at: again });
}

/** A payload of another program or release: failed, for an operator to see; the ledger knows its erasures anyway. */
function erasureOf(job: Job): string {
  const payload = QUEUES.erase.payload.safeParse(job.data);
  if (payload.success) return payload.data.erasure;
  throw new UnrecoverableError('expected the id of an erasure as the payload, got something else');
}

/** One job as the library hands it out. */
export interface Taken {
  readonly job: Job;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Puts the job back to wait until `at`, with another priority if one is given. */
async function handBack({ job, token }: Taken, log: Log, { at, priority }: Wait): Promise<never> {
  await orWarn(job, log, async () => {
    if (priority !== undefined && priority !== job.priority) await job.changePriority({ priority });
    await job.moveToDelayed(at, token);
  });
  // Says "leave this job alone". Any other error would mark it failed.
  throw new DelayedError();
}

interface Wait {
  readonly at: number;
  readonly priority?: number;
}

async function orWarn(job: Job, log: Log, handOver: () => Promise<void>): Promise<void> {
  try {
    await handOver();
  } catch (error) {
    const fields = { job: job.id, error: messageOf(error) };
    log.warn(fields, 'could not return a job to the queue; it is due again when its lock expires');
  }
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
