import { QUEUES } from '@slowwave/contracts';
import type { Log, StudyHandler } from '@slowwave/engine';
import { laneOf } from './studies.ts';
import { handBack, limitOf, messageOf, type Taken } from './taken.ts';

interface Work {
  readonly handler: StudyHandler;
  isClosing(): boolean;
  readonly log: Log;
}

/** After a handler that threw: long enough not to spin, short enough that nobody waits for it. */
const AFTER_THROW_MS = 5_000;

const TOO_LONG = `a study was cancelled after ${QUEUES.study.timeoutMs} ms, the limit of one study`;

/** Works one job: it ends when its lane has no study left, and goes back to wait until then. */
export async function workStudy(taken: Taken, { handler, isClosing, log }: Work): Promise<void> {
  const lane = laneOf(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (isClosing()) return handBack(taken, log, { at: Date.now() });
  const limit = limitOf(taken.signal, { timeoutMs: QUEUES.study.timeoutMs, tooLong: TOO_LONG });
  let again: number | null;
  try {
    again = await handler(lane, limit.signal);
  } catch (error) {
    if (taken.signal?.aborted === true) return await handBack(taken, log, { at: Date.now() });
    log.warn({ lane, error: messageOf(error) }, 'a study failed unexpectedly; it is tried again');
    return await handBack(taken, log, { at: Date.now() + AFTER_THROW_MS });
  } finally {
    limit.clear();
  }
  if (again !== null) return handBack(taken, log, { at: again });
}
