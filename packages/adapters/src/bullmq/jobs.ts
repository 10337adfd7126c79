import type { LaneId, TurnState } from '@slowwave/engine';
import type { JobsOptions, Queue } from 'bullmq';

/**
 * What a queue knows of jobs, one state for each, in one call for all of them: the library asks for one at a time.
 * What is left of a job that no worker would ever take (an operator, an eviction or a crash removed one key of the queue
 * and not the others) is removed on the way, and the job is absent: the library would ignore a new one of its name.
 */
export type JobStates = (queue: string, ids: readonly string[]) => Promise<readonly TurnState[]>;

/** A job that waits for longer is not "about to be taken": whoever knows that it is due should give it another one. */
export const ASLEEP_MS = 60_000;
/** Jobs asked about in one call: a few milliseconds of the server's time, in which it answers nobody else. */
const JOBS_PER_CALL = 250;

export const inPortions =
  (ask: JobStates): JobStates =>
  async (queue, ids) => {
    const states: TurnState[] = [];
    for (let from = 0; from < ids.length; from += JOBS_PER_CALL) {
      states.push(...(await ask(queue, ids.slice(from, from + JOBS_PER_CALL))));
    }
    return states;
  };

/**
 * The ids of a lane's jobs in a queue, whatever became of them; every such id begins with the lane. The server looks for them, by
 * their ids alone: reading all jobs of all owners to forget one of them took as long as there are owners.
 */
export type JobsOfLane = (queue: string, lane: LaneId) => Promise<readonly string[]>;

interface DueJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions & { readonly jobId: string };
}

/**
 * Adds jobs that are due, under names that never change. One that has a job is left as it is, unless that would not be
 * taken now: a job of a clock that was wrong for a moment may sleep for a day.
 */
export async function addDue(queue: Queue, jobs: readonly DueJob[], statesOf: JobStates): Promise<void> {
  const ids = jobs.map(({ opts }) => opts.jobId);
  const states = await statesOf(queue.name, ids);
  for (const id of ids.filter((_, i) => states[i] === 'asleep')) await queue.remove(id);
  await queue.addBulk([...jobs]);
}
