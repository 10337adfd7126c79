import { QUEUES } from '@slowwave/contracts';
import type { ErasureHandler, Log } from '@slowwave/engine';
import { type Job, UnrecoverableError } from 'bullmq';
import { handBack, limitOf, messageOf, type Taken } from './taken.ts';

interface Work {
  readonly handler: ErasureHandler;
  isClosing(): boolean;
  readonly log: Log;
}

/** After a failure: long enough not to spin. There is no giving up: an erasure is tried until it is done. */
const AFTER_FAILURE_MS = 10_000;

const TOO_LONG = `an erasure was put back after ${QUEUES.erase.timeoutMs} ms; it goes on where it was`;

/** Works one job: it ends when the erasure is over, and goes back to wait until then. */
export async function workErasure(taken: Taken, { handler, isClosing, log }: Work): Promise<void> {
  const erasure = erasureOf(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (isClosing()) return handBack(taken, log, { at: Date.now() });
  const limit = limitOf(taken.signal, { timeoutMs: QUEUES.erase.timeoutMs, tooLong: TOO_LONG });
  let again: number | null;
  try {
    again = await handler(erasure, limit.signal);
  } catch (error) {
    if (taken.signal?.aborted === true || limit.signal.aborted) return await handBack(taken, log, { at: Date.now() });
    log.warn({ erasure, error: messageOf(error) }, 'an erasure could not go on; it is tried again');
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
