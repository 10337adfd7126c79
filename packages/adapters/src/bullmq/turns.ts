import { type Payload, QUEUES } from '@slowwave/contracts';
import type { LaneId, Nudge, Priority, TenantId, TurnName } from '@slowwave/engine';
import type { Job, JobsOptions, Queue } from 'bullmq';
import { roundsFor } from './order/rounds-for.ts';
import { FRONT, type TurnOrder } from './order/turn-order.ts';

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

/** A turn as its job tells it. */
export interface Turn extends TurnName {
  readonly tenant: TenantId;
  readonly priority: Priority;
}

/** Of a job from a release whose jobs did not name their tenant: those share one place in the order. */
const NO_TENANT = '?' as TenantId;

/** Cuts many nudges into portions for one call each. */
export function portions(nudges: readonly Nudge[]): readonly Nudge[][] {
  const count = Math.ceil(nudges.length / TURNS_PER_CALL);
  return Array.from({ length: count }, (_, i) => nudges.slice(i * TURNS_PER_CALL, (i + 1) * TURNS_PER_CALL));
}

/** Adds a job per turn. A turn that has a job already, in whatever state, is left as it is. */
export async function addTurns(queue: Queue, order: TurnOrder, nudges: readonly Nudge[]): Promise<void> {
  const now = Date.now();
  const priorities = await roundsFor(order, nudges, now);
  // Not atomic: after a failure some may be there. The caller may add all of them again.
  await queue.addBulk(nudges.map((nudge, i) => jobOf(nudge, { now, priority: priorities[i] ?? FRONT })));
}

/** Lets a turn of backfill that waits go before all others. False when there is none. */
export async function hurryTurn(queue: Queue, turn: TurnName): Promise<boolean> {
  const job: Job | undefined = await queue.getJob(jobId(turn));
  if (job === undefined || job.priority === FRONT || turnOf(job).priority !== 'backfill') return false;
  await job.changePriority({ priority: FRONT });
  return true;
}

/** The turn a job is about; throws when its payload is none of ours. */
export function turnOf(job: Job): Turn {
  const { lane, generation, tenant, backfill } = QUEUES.consolidate.payload.parse(job.data);
  const priority = backfill === true ? 'backfill' : 'live';
  return { lane: lane as LaneId, generation, tenant: (tenant as TenantId | undefined) ?? NO_TENANT, priority };
}

/** In whose line a turn stands, by its payload; one that is none of ours stands somewhere, to be found out by a worker. */
export function tenantIn(data: unknown): Pick<Turn, 'tenant' | 'priority'> {
  const { data: payload } = QUEUES.consolidate.payload.safeParse(data);
  const priority = payload?.backfill === true ? 'backfill' : 'live';
  return { tenant: (payload?.tenant as TenantId | undefined) ?? NO_TENANT, priority };
}

function jobOf(nudge: Nudge, { now, priority }: { now: number; priority: number }) {
  const { lane, tenant, generation, dueAt } = nudge;
  const data: Payload<'consolidate'> = { lane, generation, tenant };
  if (nudge.priority === 'backfill') data.backfill = true;
  const opts: JobsOptions = { ...OPTIONS, jobId: jobId(nudge), delay: Math.max(0, dueAt - now), priority };
  return { name: TURN, data, opts };
}

/** The name of a turn's job. '~' because the library refuses ':' in ids, and ids that are bare numbers. */
export const jobId = ({ lane, generation }: TurnName): string => `${lane}~${generation}`;
