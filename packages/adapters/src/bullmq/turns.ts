import { QUEUES } from '@slowwave/contracts';
import type { LaneId, Nudge, TurnState } from '@slowwave/engine';
import type { Job, JobState, JobsOptions, Queue } from 'bullmq';

/** What a turn is called in operators' views of the queue. */
const TURN = 'turn';
/** One round trip to the server; many more jobs in one would hold up everything else on the connection. */
const TURNS_PER_CALL = 500;

const OPTIONS = {
  // Attempts are counted by the ledger: a second count here would disagree with it.
  attempts: 1,
  // Kept for an hour, as a view of what goes on; their number is bounded because nothing reads them.
  removeOnComplete: { age: 3_600, count: 1_000 },
  // A week: long enough for an operator to see why a turn was given up. The ledger keeps the truth for ever.
  removeOnFail: { age: 7 * 86_400, count: 10_000 },
} as const satisfies JobsOptions;

interface Turn {
  readonly lane: LaneId;
  readonly generation: number;
}

/** Cuts many nudges into portions for one call each. */
export function portions(nudges: readonly Nudge[]): readonly Nudge[][] {
  const count = Math.ceil(nudges.length / TURNS_PER_CALL);
  return Array.from({ length: count }, (_, i) => nudges.slice(i * TURNS_PER_CALL, (i + 1) * TURNS_PER_CALL));
}

/** Adds a job per turn. A turn that has a job already, in whatever state, is left as it is. */
export async function addTurns(queue: Queue, nudges: readonly Nudge[]): Promise<void> {
  // Not atomic: after a failure some may be there. The caller may add all of them again.
  await queue.addBulk(nudges.map(jobOf));
}

/** What the queue knows of one turn. */
export async function turnState(queue: Queue, turn: Turn): Promise<TurnState> {
  return STATES[await queue.getJobState(jobId(turn))];
}

/** The turn a job is about; throws when its payload is none of ours. */
export function turnOf(job: Job): Turn {
  const { lane, generation } = QUEUES.consolidate.payload.parse(job.data);
  return { lane: lane as LaneId, generation };
}

function jobOf(nudge: Nudge): { name: string; data: Turn; opts: JobsOptions } {
  const { lane, generation, dueAt } = nudge;
  const delay = Math.max(0, dueAt - Date.now());
  return { name: TURN, data: { lane, generation }, opts: { ...OPTIONS, jobId: jobId(nudge), delay } };
}

/** '~' because the library refuses ':' in ids, and ids that are bare numbers. */
const jobId = ({ lane, generation }: Turn): string => `${lane}~${generation}`;

const STATES: Readonly<Record<JobState | 'unknown', TurnState>> = {
  unknown: 'absent',
  waiting: 'scheduled',
  delayed: 'scheduled',
  prioritized: 'scheduled',
  'waiting-children': 'scheduled',
  active: 'active',
  completed: 'finished',
  failed: 'finished',
};
