import { setImmediate } from 'node:timers/promises';
import { type Payload, QUEUES } from '@slowwave/contracts';
import {
  EngineError,
  type ErasureQueue,
  type FollowUps,
  type LaneId,
  type Log,
  type Nudge,
  type Priority,
  type Schedule,
  type SummaryRefresh,
  type TenantId,
  type TurnName,
  type TurnState,
} from '@slowwave/engine';
import { type Job, type JobsOptions, type Queue, UnrecoverableError } from 'bullmq';
import { type OpenedQueue, openToWrite, type QueueConnection } from './connection.ts';
import { addDue, FRONT, type JobStates, roundsFor, shardOf, shardQueues, type TurnOrder } from './jobs.ts';

export interface OpenedSchedule extends Schedule {
  /** Jobs of turns by state, e.g. waiting, delayed, active. */
  jobs(): Promise<Readonly<Record<string, number>>>;
}

/** Opens the writing side of the queue; throws when the server is away or not set up as a queue needs it. */
export async function openSchedule(options: { connection: QueueConnection; log: Log }): Promise<OpenedSchedule> {
  const { connection, log } = options;
  const names = shardQueues(QUEUES.consolidate.name, connection.shards);
  const queues = await Promise.all(names.map((name) => openToWrite(connection, { name, log })));
  /** For each queue what is about lanes of it. One whose server is away keeps the others from nothing. */
  const forEach = <T extends { readonly lane: LaneId }>(items: readonly T[], run: OfShard<T>): Promise<unknown> =>
    Promise.all(
      [...Map.groupBy(items, ({ lane }) => shardOf(lane, queues.length))].map(([shard, some]) =>
        run(some, queues[shard] as OpenedQueue),
      ),
    );
  return {
    nudge: together(async (nudges) => {
      await forEach(nudges, async (some, { call }) => {
        for (const portion of portions(some)) {
          await call((queue) => addTurns(queue, connection.turnOrder(queue), portion));
        }
      });
    }),
    statesOf: async (turns) => {
      const states = new Map<TurnName, TurnState>();
      await forEach(turns, async (some, { call }) => {
        const found = await call((queue) => connection.jobStates(queue)(queue.name, some.map(jobId)));
        for (const [i, turn] of some.entries()) states.set(turn, found[i] ?? 'absent');
      });
      return turns.map((turn) => states.get(turn) ?? 'absent');
    },
    hurry: (turn) => (queues[shardOf(turn.lane, queues.length)] as OpenedQueue).call((queue) => hurryTurn(queue, turn)),
    forgetFailed: async (lanes) => {
      if (lanes.length === 0) return;
      await Promise.all(queues.map(({ call }) => call((queue) => forgetFailed(queue, new Set<string>(lanes)))));
    },
    jobs: async () => {
      const counts = await Promise.all(queues.map(({ call }) => call((queue) => queue.getJobCounts(...COUNTED))));
      return Object.fromEntries(COUNTED.map((state) => [state, sum(counts.map((count) => count[state] ?? 0))]));
    },
    check: async () => {
      await Promise.all(queues.map(({ call }) => call(async (queue) => void (await queue.isPaused()))));
    },
    close: async () => {
      await Promise.all(queues.map(({ close }) => close()));
    },
  };
}

type OfShard<T> = (some: readonly T[], queue: OpenedQueue) => Promise<void>;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** What is kept of ended jobs says nothing about the work there is. */
const COUNTED = ['wait', 'prioritized', 'delayed', 'active'] as const;

/** More than a queue takes in a few seconds. What is not nudged here the sweep finds in the ledger, when it can be taken. */
const LINE_MAX = 2_000;

interface Gathering {
  readonly nudges: Nudge[];
  readonly done: Promise<void>;
}

/**
 * Nudges for what came up meanwhile in one go when the call before has ended: a queue that is busy gets longer calls, and not
 * more of them. While too many wait already more are refused at once.
 */
function together(nudge: (nudges: readonly Nudge[]) => Promise<void>): Schedule['nudge'] {
  let before: Promise<unknown> = Promise.resolve();
  let next: Gathering | null = null;
  const afterThat = async (nudges: readonly Nudge[]): Promise<void> => {
    await before;
    await setImmediate(); // what came up in the same tick
    next = null;
    await nudge(nudges);
  };
  return async (nudges) => {
    if (nudges.length === 0) return;
    if (next !== null && next.nudges.length >= LINE_MAX) throw tooMany();
    if (next === null) {
      const first: Nudge[] = [];
      next = { nudges: first, done: afterThat(first) };
      before = next.done.catch(() => {}); // whoever asked hears of it
    }
    next.nudges.push(...nudges);
    await next.done;
  };
}

const tooMany = (): EngineError =>
  new EngineError(`the queue cannot keep up: ${LINE_MAX} nudges are waiting; the sweep will schedule the other lanes`, {
    code: 'queue_unavailable',
    retryable: true,
    countsAsTry: false,
  });

/** What a turn is called in operators' views of the queue. */
const TURN = 'turn';
/** One round trip to the server; many more jobs in one would hold up everything else on the connection. */
const TURNS_PER_CALL = 500;

const TURN_OPTIONS = {
  // Attempts are counted by the ledger: a second count here would disagree with it.
  attempts: 1,
  // Kept for an hour, as a view of what goes on; their number is bounded because nothing reads them.
  removeOnComplete: { age: 3_600, count: 1_000 },
  // A week: long enough for an operator to see why a turn was given up. The ledger keeps the truth for ever.
  removeOnFail: { age: 7 * 86_400, count: 10_000 },
} as const satisfies JobsOptions;

/** A turn as its job names it. */
export interface Turn extends TurnName {
  readonly tenant: TenantId;
  readonly priority: Priority;
}

/** Of a job from a release whose jobs did not name their tenant: those share one place in the order. */
const NO_TENANT = '?' as TenantId;

/** Cuts many nudges into portions for one call each. */
function portions(nudges: readonly Nudge[]): readonly Nudge[][] {
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
async function hurryTurn(queue: Queue, turn: TurnName): Promise<boolean> {
  const job: Job | undefined = await queue.getJob(jobId(turn));
  if (job === undefined || job.priority === FRONT || turnOf(job).priority !== 'backfill') return false;
  await job.changePriority({ priority: FRONT });
  return true;
}

/** Of failed jobs the ids alone are read: there may be thousands, of everybody. */
async function forgetFailed(queue: Queue, lanes: ReadonlySet<string>): Promise<void> {
  for (const id of await queue.getRanges(['failed'], 0, -1)) if (lanes.has(laneIn(id))) await queue.remove(id);
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
  const opts: JobsOptions = { ...TURN_OPTIONS, jobId: jobId(nudge), delay: Math.max(0, dueAt - now), priority };
  return { name: TURN, data, opts };
}

/** The name of a turn's job. '~' because the library refuses ':' in ids, and ids that are bare numbers. */
const jobId = ({ lane, generation }: TurnName): string => `${lane}~${generation}`;

const laneIn = (jobId: string): string => jobId.split('~')[0] ?? '';

interface OpenedFollowUps extends FollowUps {
  close(): Promise<void>;
}

/** Opens the queues of what consolidations leave for later; throws when the server is away. */
export async function openFollowUps(options: { connection: QueueConnection; log: Log }): Promise<OpenedFollowUps> {
  const open = (name: string) => openToWrite(options.connection, { name, log: options.log });
  const names = [QUEUES.summarize.name, QUEUES.study.name, QUEUES.sleep.name] as const;
  const [summaries, studies, nights] = await Promise.all([open(names[0]), open(names[1]), open(names[2])]);
  const { jobStates } = options.connection;
  return {
    summarize: (refresh) => summaries.call((queue) => addRefresh(queue, refresh)),
    study: (lanes) => studies.call((queue) => addOfLanes(queue, { name: STUDY, lanes }, jobStates(queue))),
    sleep: (lanes) => nights.call((queue) => addOfLanes(queue, { name: NIGHT, lanes }, jobStates(queue))),
    close: async () => {
      await Promise.all([summaries.close(), studies.close(), nights.close()]);
    },
  };
}

/** What a refresh is called in operators' views of the queue. */
const REFRESH = 'refresh';

const REFRESH_OPTIONS = {
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
async function addRefresh(queue: Queue, { lane, scope, upTo }: SummaryRefresh): Promise<void> {
  // '~' because the library refuses ':' in ids.
  await queue.add(REFRESH, { lane, scope, upTo }, { ...REFRESH_OPTIONS, jobId: `${lane}~${scope}~${upTo}` });
}

/** The refresh a job is about; throws when its payload is none of ours. */
export function refreshOf(job: Job): SummaryRefresh {
  const { lane, scope, upTo } = QUEUES.summarize.payload.parse(job.data);
  return { lane: lane as LaneId, scope, upTo };
}

/** What a study and a night are called in operators' views of the queue. */
const STUDY = 'study';
const NIGHT = 'night';

/** Of jobs under names that come again. */
const UNKEPT_OPTIONS = {
  // Tries are counted by the ledger: a second count here would disagree with it.
  attempts: 1,
  // A kept job would make the queue ignore the next of its name: the ledger has the record.
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies JobsOptions;

/** Adds a job per lane that has none. */
async function addOfLanes(
  queue: Queue,
  { name, lanes }: { readonly name: string; readonly lanes: readonly LaneId[] },
  statesOf: JobStates,
): Promise<void> {
  const jobs = lanes.map((lane) => ({ name, data: { lane }, opts: { ...UNKEPT_OPTIONS, jobId: lane } }));
  await addDue(queue, jobs, statesOf);
}

/** The lane a job is about. A payload of another program or release fails, for an operator to see; the ledger knows its studies and nights anyway. */
export function laneOf(job: Job): LaneId {
  const payload = QUEUES.study.payload.safeParse(job.data);
  if (payload.success) return payload.data.lane as LaneId;
  throw new UnrecoverableError('expected a lane as the payload, got something else');
}

interface OpenedErasureQueue extends ErasureQueue {
  close(): Promise<void>;
}

/** What an erasure is called in operators' views of the queue. */
const ERASURE = 'erasure';

/** Opens the queue of erasures, and those that may hold something of a lane; throws when the server is away. */
export async function openErasureQueue(options: {
  connection: QueueConnection;
  log: Log;
}): Promise<OpenedErasureQueue> {
  const { connection, log } = options;
  const open = (name: string): Promise<OpenedQueue> => openToWrite(connection, { name, log });
  const { consolidate, erase, ...others } = QUEUES;
  const turns = shardQueues(consolidate.name, connection.shards);
  const names = [erase.name, ...turns, ...Object.values(others).map(({ name }) => name)];
  const queues = await Promise.all(names.map(open));
  const [erasures, ...ofLanes] = queues;
  return {
    erase: async (ids) => {
      const jobs = ids.map((erasure) => ({
        name: ERASURE,
        data: { erasure },
        opts: { ...UNKEPT_OPTIONS, jobId: erasure },
      }));
      await erasures?.call((queue) => addDue(queue, jobs, connection.jobStates(queue)));
    },
    forgetLane: async (lane) => {
      for (const { call } of ofLanes) {
        // Jobs hold ids alone, but why one failed stands there in words. One that runs ends by itself: the ledger refuses its work.
        const ids = await call((queue) => connection.jobsOfLane(queue)(queue.name, lane));
        for (const id of ids) await call((queue) => queue.remove(id));
        await call((queue) => connection.forgetEvents(queue));
      }
    },
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}
