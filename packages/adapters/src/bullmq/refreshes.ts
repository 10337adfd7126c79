import { QUEUES } from '@slowwave/contracts';
import type { LaneId, SummaryRefresh } from '@slowwave/engine';
import type { Job, JobsOptions, Queue } from 'bullmq';

/** What a refresh is called in operators' views of the queue. */
const REFRESH = 'refresh';

const OPTIONS = {
  // Counted by the queue: a refresh that is given up loses nothing, the next consolidation asks again.
  attempts: 3,
  // 10 s and 20 s, halved at most by chance: refreshes that failed together come back apart.
  backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
  // Kept for an hour, as a view of what goes on.
  removeOnComplete: { age: 3_600, count: 1_000 },
  // A week: long enough for an operator to see why refreshes fail.
  removeOnFail: { age: 7 * 86_400, count: 1_000 },
} as const satisfies JobsOptions;

/** Adds a job for the refresh. One that has a job already, in whatever state, is left as it is. */
export async function addRefresh(queue: Queue, { lane, scope, upTo }: SummaryRefresh): Promise<void> {
  // '~' because the library refuses ':' in ids.
  await queue.add(REFRESH, { lane, scope, upTo }, { ...OPTIONS, jobId: `${lane}~${scope}~${upTo}` });
}

/** The refresh a job is about; throws when its payload is none of ours. */
export function refreshOf(job: Job): SummaryRefresh {
  const { lane, scope, upTo } = QUEUES.summarize.payload.parse(job.data);
  return { lane: lane as LaneId, scope, upTo };
}
