import { EventEmitter } from 'node:events';
import type { TurnState } from '@slowwave/engine';
import {
  type BackendFactory,
  type FinishedStatus,
  type IQueueBackend,
  type JobJson,
  type JobState,
  type JobType,
  Queue,
  type QueueBaseOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { newPulse, QUEUE_OPTIONS, type QueueConnection } from '../connection.ts';
import { ASLEEP_MS, memoryTurnOrder, UNPLACED } from '../jobs.ts';
import { MemoryQueue, type State, type StoredJob } from './queue.ts';

const PLACE = 'this process';

/** Queues in the memory of this process: gone with it, and filled again from the ledger. */
export function memoryConnection(): QueueConnection {
  const queues = new Map<string, MemoryQueue>();
  let isClosed = false;
  const named = (name: string): MemoryQueue => {
    if (isClosed) throw new Error('it is closed');
    const queue = queues.get(name) ?? new MemoryQueue();
    queues.set(name, queue);
    return queue;
  };
  const backend: BackendFactory<MemoryBackend> = (name, options) => new MemoryBackend(name, named, options);
  const order = memoryTurnOrder(); // nobody else uses these queues
  return {
    place: PLACE,
    pulse: newPulse(),
    shards: 1, // one process needs no more
    lockServer: null,
    ready: async () => {},
    // The types of queues and workers name their backend; nothing above this line uses what only one of them has.
    openQueue: (name) => new Queue(name, { ...QUEUE_OPTIONS, connection: {} }, backend) as unknown as Queue,
    openWorker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection: {} }, backend) as unknown as Worker,
    turnOrder: () => order,
    waiting: () => ({
      unplaced: async (name, limit) =>
        named(name)
          .waitingAt(UNPLACED, limit)
          .map(({ id, data }) => ({ id, data: JSON.parse(data) })),
      place: async (name, placed) => {
        const queue = named(name);
        for (const { id, priority } of placed) {
          if (queue.stateOf(id) === 'waiting' && queue.get(id)?.priority === UNPLACED) queue.setPriority(id, priority);
        }
      },
    }),
    jobStates: () => async (name, ids) => ids.map((id) => turnStateOf(named(name), id)),
    jobsOfLane: () => async (name, lane) =>
      [...named(name).ids()].filter((id) => id === lane || id.startsWith(`${lane}~`)),
    forgetEvents: async ({ name }) => void named(name).events.trim(0),
    close: async () => {
      isClosed = true;
      queues.clear();
    },
  };
}

function turnStateOf(queue: MemoryQueue, id: string): TurnState {
  switch (queue.stateOf(id)) {
    case null:
      return 'absent';
    case 'active':
      return 'active';
    case 'waiting':
      return 'scheduled';
    case 'delayed':
      return queue.dueAt(id) > Date.now() + ASLEEP_MS ? 'asleep' : 'scheduled';
    default:
      return 'finished';
  }
}

/** What a worker is given: a job and its id, or until when there is none. */
type Next = [json: JobJson | null, id: string, limitMs: number, nextAt: number];

const LOCK_MS = 30_000;
const SECOND_MS = 1_000;
/** So that a worker looks at the clock again: it may have been set. */
const WAIT_MAX_S = 5;

/** Queues that all backends with one connection share. */
type QueueNamed = (name: string) => MemoryQueue;

/** What the library calls a backend's method with. */
type Given<Name extends keyof IQueueBackend> = Parameters<Extract<IQueueBackend[Name], (...args: never[]) => unknown>>;

/**
 * What the product does not use of queues: flows, schedulers, rate limits, logs, metrics, and changes of jobs. Views hear
 * that there is none of it; whoever asks for it is refused.
 */
class UnusedCalls extends EventEmitter {
  async getClientList(): Promise<string[]> {
    return [];
  }
  async removeOrphanedJobs(): Promise<number> {
    return 0;
  }
  async getJobLogs(): Promise<{ logs: string[]; count: number }> {
    return { logs: [], count: 0 };
  }
  async getMetrics(): Promise<[string[], string[], number]> {
    return [['0', '0', '0'], [], 0];
  }
  async getDependencies(): Promise<Record<string, never>> {
    return {};
  }
  async getDependencyCounts(...[, types]: Given<'getDependencyCounts'>): Promise<number[]> {
    return types.map(() => 0);
  }
  async getProcessedChildrenValues(): Promise<Record<string, string>> {
    return {};
  }
  async getIgnoredChildrenFailures(): Promise<Record<string, string>> {
    return {};
  }
  async getJobSchedulersCount(): Promise<number> {
    return 0;
  }
  async getJobSchedulersRange(): Promise<string[]> {
    return [];
  }
  async isJobScheduler(): Promise<boolean> {
    return false;
  }
  async isMaxed(): Promise<boolean> {
    return false;
  }
  /** As the library says that there is no limit. */
  async getRateLimitTtl(): Promise<number> {
    return -2;
  }

  readonly addFlow = refuse('addFlow');
  readonly addJobScheduler = refuse('addJobScheduler');
  readonly updateJobSchedulerNextMillis = refuse('updateJobSchedulerNextMillis');
  readonly removeJobScheduler = refuse('removeJobScheduler');
  readonly getJobScheduler = refuse('getJobScheduler');
  readonly getJobSchedulerData = refuse('getJobSchedulerData');
  readonly moveToWaitingChildren = refuse('moveToWaitingChildren');
  readonly removeUnprocessedChildren = refuse('removeUnprocessedChildren');
  readonly removeChildDependency = refuse('removeChildDependency');
  readonly paginate = refuse('paginate');
  readonly removeDeduplicationKey = refuse('removeDeduplicationKey');
  readonly deleteDeduplicationKey = refuse('deleteDeduplicationKey');
  readonly getDeduplicationJobId = refuse('getDeduplicationJobId');
  readonly moveJobFromActiveToWait = refuse('moveJobFromActiveToWait');
  readonly setRateLimit = refuse('setRateLimit');
  readonly removeRateLimitKey = refuse('removeRateLimitKey');
  readonly getCountsPerPriority = refuse('getCountsPerPriority');
  readonly removeDeprecatedPriorityKey = refuse('removeDeprecatedPriorityKey');
  readonly updateData = refuse('updateData');
  readonly updateProgress = refuse('updateProgress');
  readonly addLog = refuse('addLog');
  readonly clearLogs = refuse('clearLogs');
  readonly changeDelay = refuse('changeDelay');
  parseNodeKey(): never {
    throw unsupported('parseNodeKey');
  }
}

const unsupported = (what: string): Error =>
  new Error(`the queue in memory does not support ${what}; set REDIS_URL to use a queue that does`);

const refuse = (call: string) => (): Promise<never> => Promise.reject(unsupported(call));

/**
 * The library's view of a queue in memory, for one queue, worker or listener to events. Calls of the product and of its
 * views work as on the library's own backends.
 */
class MemoryBackend extends UnusedCalls implements IQueueBackend {
  readonly qualifiedName: string;
  readonly keys = {};
  readonly minimumBlockTimeout = 0.001;
  readonly maximumBlockTimeout = WAIT_MAX_S;
  closing: Promise<void> | undefined;
  readonly #queueNamed: QueueNamed;
  readonly #options: QueueBaseOptions & Partial<WorkerOptions>;
  /** Aborts what this backend waits for. */
  #waits = new AbortController();

  constructor(name: string, queueNamed: QueueNamed, options: QueueBaseOptions & Partial<WorkerOptions>) {
    super();
    if (options.limiter !== undefined) throw unsupported('the option "limiter" of a worker');
    this.qualifiedName = name;
    this.#queueNamed = queueNamed;
    this.#options = options;
  }

  get #queue(): MemoryQueue {
    return this.#queueNamed(this.qualifiedName);
  }

  // The connection.

  async waitUntilReady(): Promise<void> {}
  async setName(): Promise<void> {}
  async disconnect(): Promise<void> {
    this.#waits.abort();
  }
  async close(): Promise<void> {
    this.closing ??= this.disconnect();
    await this.closing;
  }
  async disconnectBlocking(): Promise<void> {
    this.#waits.abort();
  }
  async reconnectBlocking(): Promise<void> {
    this.#waits = new AbortController();
  }
  forQueue(name: string): IQueueBackend {
    return new MemoryBackend(name, this.#queueNamed, this.#options);
  }
  toKey(type: string): string {
    return `${this.qualifiedName}:${type}`;
  }
  clientName(suffix = ''): string {
    return `${this.qualifiedName}${suffix}`;
  }
  // Adding and taking.

  async addJob(...[job, id]: Given<'addJob'>): Promise<string> {
    return this.#add(job, id);
  }
  async addJobs(entries: Given<'addJobs'>[0]): Promise<string[]> {
    return entries.map(({ job, jobId }) => this.#add(job, jobId));
  }
  async moveToActive(token: string, worker?: string): Promise<Next> {
    const { lockDuration = LOCK_MS } = this.#options;
    const json = this.#queue.take({ token, lockMs: lockDuration, worker });
    if (json !== null) return [json, json.id, 0, 0];
    const nextAt = this.#queue.nextAt();
    return [null, '', 0, nextAt === Infinity ? 0 : nextAt];
  }
  async waitForJob(limitSeconds: number): Promise<{ member: string; score: number } | null> {
    const limitMs = Math.min(limitSeconds * SECOND_MS, this.#queue.nextAt() - Date.now());
    const isDue = limitMs <= 0 || (await this.#queue.work.wait(limitMs, this.#waits.signal));
    return isDue ? { member: '', score: 0 } : null;
  }
  async extendLock(...[id, token, lockMs]: Given<'extendLock'>): Promise<number> {
    return this.#queue.extendLock(id, token, lockMs) ? 1 : 0;
  }
  async extendLocks(...[ids, tokens, lockMs]: Given<'extendLocks'>): Promise<string[]> {
    return ids.filter((id, i) => !this.#queue.extendLock(id, tokens[i] ?? '', lockMs));
  }
  async moveStalledJobsToWait(): Promise<string[]> {
    return this.#queue.takeFromStalled(this.#options.maxStalledCount ?? 1);
  }

  // Ending, and going back to wait.

  async moveToCompleted(...[job, value, keep, token, fetchNext]: Given<'moveToCompleted'>) {
    const fields = { returnvalue: JSON.stringify(value ?? null) };
    const finishedOn = this.#queue.end(job.id ?? '', token, { state: 'completed', fields, keep });
    return { finishedOn, result: await this.#next(token, fetchNext) };
  }
  async moveToFailed(...[job, failedReason, keep, token, fetchNext, given]: Given<'moveToFailed'>) {
    const fields = { ...given, failedReason };
    const finishedOn = this.#queue.end(job.id ?? '', token, { state: 'failed', fields, keep });
    return { finishedOn, result: await this.#next(token, fetchNext) };
  }
  async moveToDelayed(...[id, at, delay, token = '', given = {}]: Given<'moveToDelayed'>): Promise<Next | []> {
    const { fieldsToUpdate = {}, skipAttempt = false, fetchNext = false } = given;
    this.#queue.giveBack(id, token, { dueAt: at + delay, isAttempt: !skipAttempt, fields: fieldsToUpdate });
    const next = await this.#next(token, fetchNext);
    return next?.[0] ? next : [];
  }
  async retryJob(...[id, , token = '', { fieldsToUpdate = {} } = {}]: Given<'retryJob'>): Promise<void> {
    this.#queue.giveBack(id, token, { dueAt: Date.now(), isAttempt: true, fields: fieldsToUpdate });
  }

  // What an operator may do.

  async retryFinishedJob(...[{ id = '' }, state]: Given<'retryFinishedJob'>): Promise<void> {
    this.#queue.retry(id, state);
  }
  async retryFinishedJobs(state: FinishedStatus = 'failed'): Promise<number> {
    for (const { json } of [...this.#queue.jobsIn(state)]) this.#queue.retry(json.id, state);
    return 0;
  }
  async promote(id: string): Promise<void> {
    this.#queue.promote(id);
  }
  async promoteJobs(): Promise<number> {
    for (const { json } of [...this.#queue.jobsIn('delayed')]) this.#queue.promote(json.id);
    return 0;
  }
  async changePriority(...[id, priority = 0, lifo]: Given<'changePriority'>): Promise<void> {
    this.#queue.setPriority(id, priority, lifo);
  }
  async pause(isPaused: boolean): Promise<void> {
    this.#queue.pause(isPaused);
  }
  async remove(id: string): Promise<number> {
    return this.#queue.remove(id) ? 1 : 0;
  }
  async drain(delayed: boolean): Promise<void> {
    for (const state of delayed ? (['waiting', 'delayed'] as const) : (['waiting'] as const)) {
      for (const { json } of [...this.#queue.jobsIn(state)]) this.#queue.remove(json.id);
    }
  }
  async cleanJobsByState(...[type, before, limit = 0]: Given<'cleanJobsByState'>): Promise<string[]> {
    const old = this.#jobsOf(type as JobType).filter(({ json }) => (json.finishedOn ?? json.timestamp) <= before);
    const ids = old.slice(0, limit || old.length).map(({ json }) => json.id);
    return ids.filter((id) => this.#queue.remove(id));
  }
  async obliterate({ force }: { force: boolean }): Promise<number> {
    if (!this.#queue.isPaused()) throw new Error('Cannot obliterate non-paused queue');
    if (!force && this.#queue.jobsIn('active').length > 0) throw new Error('Cannot obliterate queue with active jobs');
    this.#queue.clear();
    return 0;
  }
  // Views.

  async getJobData(id: string): Promise<JobJson | undefined> {
    return this.#queue.get(id);
  }
  async getState(id: string): Promise<JobState | 'unknown'> {
    const state = this.#queue.stateOf(id) ?? 'unknown';
    return state === 'waiting' && (this.#queue.get(id)?.priority ?? 0) > 0 ? 'prioritized' : state;
  }
  async isJobInState(state: string, id: string): Promise<boolean> {
    return (await this.getState(id)) === (state === 'wait' ? 'waiting' : state);
  }
  async isFinished(id: string, withValue?: boolean): Promise<number | [number, string]> {
    const [state, json] = [this.#queue.stateOf(id), this.#queue.get(id)];
    const value = state === 'failed' ? json?.failedReason : json?.returnvalue;
    const code = json === undefined ? -1 : state === 'completed' ? 1 : state === 'failed' ? 2 : 0;
    return withValue === true ? [code, value ?? ''] : code;
  }
  async getCounts(types: JobType[], delayedBefore = Infinity): Promise<number[]> {
    return types.map((type) =>
      type === 'delayed' && delayedBefore !== Infinity
        ? this.#queue.jobsIn('delayed').filter(({ rank }) => rank < delayedBefore).length
        : this.#jobsOf(type).length,
    );
  }
  /** The library turns lists round that it asks for in the order of their coming. */
  async getRanges(...[types, start = 0, end = -1, asc = false]: Given<'getRanges'>): Promise<[string][]> {
    return types.map((type) => {
      const ids = this.#jobsOf(type).map(({ json }) => json.id);
      const range = slice(asc ? ids : ids.toReversed(), start, end);
      return (asc && LISTED.has(type) ? range.toReversed() : range) as [string];
    });
  }
  // What is known of the queue, and its events.

  async setQueueMeta(values: Readonly<Record<string, string | number>>): Promise<number> {
    for (const [field, value] of Object.entries(values)) {
      if (LIMITS.has(field)) throw unsupported(`a queue's "${field}"`);
      this.#queue.meta.set(field, String(value));
    }
    return Object.keys(values).length;
  }
  async getQueueMeta(): Promise<Record<string, string>> {
    return Object.fromEntries(this.#queue.meta);
  }
  async getQueueMetaField(field: string): Promise<string | null> {
    return this.#queue.meta.get(field) ?? null;
  }
  async getQueueMetaFields(fields: string[]): Promise<(string | null)[]> {
    return fields.map((field) => this.#queue.meta.get(field) ?? null);
  }
  async hasQueueMetaField(field: string): Promise<boolean> {
    return this.#queue.meta.has(field);
  }
  async removeQueueMetaFields(fields: string[]): Promise<number> {
    return fields.filter((field) => this.#queue.meta.delete(field)).length;
  }
  async trimEvents(length: number): Promise<number> {
    return this.#queue.events.trim(length);
  }
  async publishEvent(...[fields, length]: Given<'publishEvent'>): Promise<string> {
    return this.#queue.events.add(fields, length);
  }
  async readEvents(...[id, limitMs]: Given<'readEvents'>): ReturnType<IQueueBackend['readEvents']> {
    const events = await this.#queue.events.after(id, limitMs, this.#waits.signal);
    return events.length === 0 ? null : [['events', events]];
  }

  #add(job: JobJson, id: string): string {
    for (const field of REFUSED) if (job[field] !== undefined) throw unsupported(`jobs with ${field}`);
    return this.#queue.add(job, id);
  }

  async #next(token: string, fetchNext: boolean): Promise<Next | undefined> {
    return fetchNext && this.closing === undefined ? this.moveToActive(token, this.#options.name) : undefined;
  }

  /** In their order. */
  #jobsOf(type: JobType): readonly StoredJob[] {
    const jobs = this.#queue.jobsIn(STATES[type] ?? 'waiting');
    const count = this.#queue.countWithoutPriority();
    if (type === 'wait' || type === 'waiting') return jobs.slice(0, count);
    if (type === 'prioritized') return jobs.slice(count);
    return STATES[type] === undefined ? [] : jobs;
  }
}

/** Where jobs of a type are; those that wait are in one list. */
const STATES: Partial<Record<JobType, State>> = {
  wait: 'waiting',
  waiting: 'waiting',
  prioritized: 'waiting',
  delayed: 'delayed',
  active: 'active',
  completed: 'completed',
  failed: 'failed',
};
const LISTED: ReadonlySet<JobType> = new Set(['wait', 'waiting', 'active']);
const REFUSED = ['parentKey', 'deduplicationId', 'repeatJobKey'] as const satisfies (keyof JobJson)[];
/** Limits that hold for all workers of a queue together. */
const LIMITS: ReadonlySet<string> = new Set(['concurrency', 'max', 'duration']);

/** Both ends belong to it; negative ones count from the end. */
const slice = (ids: readonly string[], start: number, end: number): string[] =>
  ids.slice(start, end === -1 ? undefined : end + 1);
