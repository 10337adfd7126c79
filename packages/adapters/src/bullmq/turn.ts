import { QUEUES } from '@slowwave/contracts';
import type { Log, Nudge, TurnHandler, Verdict } from '@slowwave/engine';
import { type Job, UnrecoverableError } from 'bullmq';
import type { Place } from './find-place.ts';
import { FRONT, UNPLACED } from './order/turn-order.ts';
import { handBack, limitOf, messageOf, type Taken } from './taken.ts';
import { type Turn, turnOf } from './turns.ts';

interface Work {
  readonly handler: TurnHandler;
  /** Whether it may begin. */
  place(job: Job, turn: Turn): Promise<Place>;
  /** Never throws. */
  nudgeNext(next: Nudge | null): Promise<void>;
  isClosing(): boolean;
  readonly log: Log;
}

/** After a handler that threw: long enough not to spin, short enough that nobody waits for it. */
const AFTER_THROW_MS = 5_000;

/**
 * Works one job: it ends completed (done), failed (parked), or goes back to wait (later, thrown, cancelled).
 * Whatever the handler does, the turn is never lost.
 */
export async function workTurn(taken: Taken, work: Work): Promise<void> {
  const turn = parse(taken.job);
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
  const limit = limitOf(taken.signal, { timeoutMs: QUEUES.consolidate.timeoutMs, tooLong: TOO_LONG });
  try {
    return await work.handler({ lane: turn.lane, generation: turn.generation }, limit.signal);
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
