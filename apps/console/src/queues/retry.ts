import { QUEUES } from '@slowwave/contracts';
import type { LaneId } from '@slowwave/engine';
import { notFound, problem } from '@slowwave/http';
import type { Job, Queue } from 'bullmq';
import type { ConsoleDeps } from '../deps.ts';

/** Most failed turns one request tries again. */
const RETRY_MAX = 1_000;

/**
 * A failed turn is over, and its lane has moved on: running the same job again would do nothing. What can be tried
 * again are the batches it left parked.
 */
export async function retryOne(deps: ConsoleDeps, queueName: string, jobId: string): Promise<void> {
  const queue = queueOf(deps, queueName);
  const job: Job | undefined = await queue.getJob(jobId);
  if (job === undefined) throw notFound('job', jobId);
  const state = await job.getState();
  if (state !== 'failed') {
    throw problem('conflict', `only failed turns can be retried, and ${jobId} is ${state}`);
  }
  if ((await replay(deps, job)) > 0) return;
  throw problem('conflict', `the lane of ${jobId} has no parked batches; there is nothing to retry`);
}

/** All failed turns of a queue; turns of one lane count once each, its batches are replayed once. */
export async function retryFailed(deps: ConsoleDeps, queueName: string): Promise<{ retried: number; skipped: number }> {
  const jobs: Job[] = await queueOf(deps, queueName).getFailed(0, RETRY_MAX - 1);
  let retried = 0;
  for (const job of jobs) retried += (await replay(deps, job)) > 0 ? 1 : 0;
  return { retried, skipped: jobs.length - retried };
}

function queueOf(deps: ConsoleDeps, name: string): Queue {
  const queue = deps.queues.find((known) => known.name === name);
  if (queue === undefined) throw notFound('queue', name);
  return queue;
}

/** The failed job is taken away: its batches have a new turn, and it would be shown as a failure for ever. */
async function replay(deps: ConsoleDeps, job: Job): Promise<number> {
  const payload = QUEUES.consolidate.payload.safeParse(job.data);
  if (!payload.success) throw problem('conflict', `job ${job.id} is not a turn of a lane and cannot be retried`);
  const replayed = await deps.replayLane(payload.data.lane as LaneId);
  if (replayed > 0) await job.remove();
  return replayed;
}
