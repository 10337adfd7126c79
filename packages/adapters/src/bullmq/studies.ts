import { QUEUES } from '@slowwave/contracts';
import type { LaneId } from '@slowwave/engine';
import { type Job, type JobsOptions, type Queue, UnrecoverableError } from 'bullmq';
import { addDue, type JobStates } from './job-states.ts';

/** What a study is called in operators' views of the queue. */
const STUDY = 'study';

const OPTIONS = {
  // Tries are counted by the ledger: a second count here would disagree with it.
  attempts: 1,
  // A kept job would make the queue ignore the next of its lane: the ledger has the record.
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies JobsOptions;

/** Adds a job per lane that has none. */
export async function addStudies(queue: Queue, lanes: readonly LaneId[], statesOf: JobStates): Promise<void> {
  const jobs = lanes.map((lane) => ({ name: STUDY, data: { lane }, opts: { ...OPTIONS, jobId: lane } }));
  await addDue(queue, jobs, statesOf);
}

/** The lane a job is about. A payload of another program or release fails, for an operator to see; the ledger knows its studies anyway. */
export function laneOf(job: Job): LaneId {
  const payload = QUEUES.study.payload.safeParse(job.data);
  if (payload.success) return payload.data.lane as LaneId;
  throw new UnrecoverableError('expected a lane as the payload, got something else');
}
