import { QUEUES } from '@slowwave/contracts';
import { EngineError, type Log, type SummaryHandler, type SummaryRefresh } from '@slowwave/engine';
import { type Job, UnrecoverableError } from 'bullmq';
import { refreshOf } from './refreshes.ts';
import { handBack, limitOf, messageOf, type Taken } from './taken.ts';

interface Work {
  readonly handler: SummaryHandler;
  isClosing(): boolean;
  readonly log: Log;
}

/** Works one job. What the handler throws counts as a try, unless the worker stops or the provider named a time. */
export async function workRefresh(taken: Taken, work: Work): Promise<void> {
  const refresh = parse(taken.job);
  // Taken in the same moment as the close: nobody would cancel it.
  if (work.isClosing()) return handBack(taken, work.log, { at: Date.now() });
  const limit = limitOf(taken.signal, { timeoutMs: QUEUES.summarize.timeoutMs, tooLong: TOO_LONG });
  try {
    await work.handler(refresh, limit.signal);
  } catch (error) {
    return await ended(taken, work, { refresh, error });
  } finally {
    limit.clear();
  }
}

/** When work comes too early and nobody says how much. */
const WAIT_MS = 5_000;

const TOO_LONG = `a refresh was cancelled after ${QUEUES.summarize.timeoutMs} ms, the limit of one refresh`;

function parse(job: Job): SummaryRefresh {
  try {
    return refreshOf(job);
  } catch (error) {
    throw new UnrecoverableError(
      `expected a lane, a scope and a sequence as the payload, got something else: ${messageOf(error)}`,
    );
  }
}

async function ended(
  taken: Taken,
  { log }: Work,
  { refresh, error }: { refresh: SummaryRefresh; error: unknown },
): Promise<never> {
  if (taken.signal?.aborted === true) return handBack(taken, log, { at: Date.now() });
  const fields = { ...refresh, error: messageOf(error) };
  if (error instanceof EngineError && !error.countsAsTry) {
    log.info(fields, 'a refresh of a summary waits');
    return handBack(taken, log, { at: Date.now() + (error.retryAfterMs ?? WAIT_MS) });
  }
  log.warn(fields, 'a refresh of a summary failed');
  if (!(error instanceof EngineError)) throw error;
  if (!error.retryable) throw new UnrecoverableError(error.message);
  if (error.retryAfterMs !== null) return handBack(taken, log, { at: Date.now() + error.retryAfterMs });
  throw error;
}
