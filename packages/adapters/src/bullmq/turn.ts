import { QUEUES } from '@slowwave/contracts';
import { EngineError, type Log, type Nudge, type TurnHandler, type Verdict } from '@slowwave/engine';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { turnOf } from './turns.ts';

/** One job as the library hands it out. */
interface Taken {
  readonly job: Job;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Work {
  readonly handler: TurnHandler;
  /** Never throws. */
  nudgeNext(next: Nudge | null): Promise<void>;
  isClosing(): boolean;
  readonly log: Log;
}

type Turn = ReturnType<typeof turnOf>;

/** After a handler that threw: long enough not to spin, short enough that nobody waits for it. */
const AFTER_THROW_MS = 5_000;

/**
 * Works one job: it ends completed (done), failed (parked), or goes back to wait (later, thrown, cancelled).
 * Whatever the handler does, the turn is never lost.
 */
export async function workTurn(taken: Taken, work: Work): Promise<void> {
  const turn = parse(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (work.isClosing()) return handBack(taken, work, Date.now());
  const verdict = await judge(turn, taken, work);
  switch (verdict.kind) {
    case 'done':
      return work.nudgeNext(verdict.next);
    case 'later':
      return handBack(taken, work, verdict.at);
    case 'parked':
      await work.nudgeNext(verdict.next);
      throw new UnrecoverableError(verdict.reason);
  }
}

/** A payload of another program or release: failed, for an operator to see; the ledger knows the lane anyway. */
function parse(job: Job): Turn {
  try {
    return turnOf(job);
  } catch (error) {
    throw new UnrecoverableError(
      `expected a lane and a generation as the payload, got something else: ${messageOf(error)}`,
    );
  }
}

/** What the handler says; a handler that throws says "later". */
async function judge(turn: Turn, taken: Taken, work: Work): Promise<Verdict> {
  const limit = limitOf(taken.signal);
  try {
    return await work.handler(turn, limit.signal);
  } catch (error) {
    const fields = { lane: turn.lane, generation: turn.generation, error: messageOf(error) };
    if (taken.signal?.aborted === true) {
      work.log.info(fields, 'a cancelled turn goes back to the queue');
      return { kind: 'later', at: Date.now() };
    }
    work.log.error(fields, limit.signal.aborted ? TOO_LONG : 'a turn failed unexpectedly; it is tried again');
    return { kind: 'later', at: Date.now() + AFTER_THROW_MS };
  } finally {
    limit.clear();
  }
}

const TOO_LONG = `a turn was cancelled after ${QUEUES.consolidate.timeoutMs} ms, the limit of one turn; it is tried again`;

/** Aborts with the given signal, or when a turn has had all its time: the engine counts that as a failed try. */
function limitOf(outer: AbortSignal | undefined): { signal: AbortSignal; clear(): void } {
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(tooLong()), QUEUES.consolidate.timeoutMs);
  const signal = outer === undefined ? own.signal : AbortSignal.any([outer, own.signal]);
  return { signal, clear: () => clearTimeout(timer) };
}

const tooLong = (): EngineError => new EngineError(TOO_LONG, { code: 'model_timeout', retryable: true });

/** Puts the job back to wait until `at`. */
async function handBack({ job, token }: Taken, { log }: Work, at: number): Promise<never> {
  try {
    await job.moveToDelayed(at, token);
  } catch (error) {
    log.warn({ turn: job.id, error: messageOf(error) }, 'could not hand a turn back; it is due when its lock expires');
  }
  // Says "leave this job alone". Any other error would mark it failed.
  throw new DelayedError();
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
