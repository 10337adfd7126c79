import { EngineError, type Log } from '@slowwave/engine';
import { DelayedError, type Job } from 'bullmq';

/** One job as the library hands it out. */
export interface Taken {
  readonly job: Job;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Aborts with the given signal, or when a job has had all its time: the engine counts that as a failed try. */
export function limitOf(
  outer: AbortSignal | undefined,
  { timeoutMs, tooLong }: { timeoutMs: number; tooLong: string },
): { signal: AbortSignal; clear(): void } {
  const own = new AbortController();
  const reason = () => new EngineError(tooLong, { code: 'model_timeout', retryable: true });
  const timer = setTimeout(() => own.abort(reason()), timeoutMs);
  const signal = outer === undefined ? own.signal : AbortSignal.any([outer, own.signal]);
  return { signal, clear: () => clearTimeout(timer) };
}

/** Puts the job back to wait until `at`, with another priority if one is given. */
export async function handBack({ job, token }: Taken, log: Log, { at, priority }: Wait): Promise<never> {
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
    log.warn(fields, 'could not hand a job back to the queue; it is due when its lock expires');
  }
}

export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
