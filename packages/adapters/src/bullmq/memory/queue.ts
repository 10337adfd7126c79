import { ErrorCode, type FinishedStatus, type JobJson, type KeepJobs } from 'bullmq';

interface Claim {
  readonly token: string;
  readonly lockMs: number;
  readonly worker: string | undefined;
}

/** How a job ends. */
interface Ending {
  readonly state: FinishedStatus;
  readonly fields: Partial<JobJson>;
  /** Whether to keep it, or how many and how old ones. */
  readonly keep: boolean | number | KeepJobs | undefined;
}

/** How a job goes back to wait. */
interface Release {
  readonly dueAt: number;
  readonly isAttempt: boolean;
  readonly fields?: Partial<JobJson>;
}

/** What the library allows a step on a job to fail with. */
type Refusal = ErrorCode.JobNotExist | ErrorCode.JobNotInState | ErrorCode.JobLockMismatch;

const SECOND_MS = 1_000;
const STALLED = 'job stalled more than allowable limit';

/**
 * One queue in memory. Every call is one step that nothing comes between. A delayed job that is due waits from the next
 * call on, whoever makes it.
 */
export class MemoryQueue {
  readonly meta = new Map<string, string>();
  readonly events = new EventHistory();
  /** Rings when there may be something to take, or the next delayed job is another one. */
  readonly work = new Bell();
  readonly #jobs = new Map<string, StoredJob>();
  readonly #lists = new JobLists();

  /** Adds a job, unless there is one of its name. */
  add(given: JobJson, name: string): string {
    const id = name || given.id || String(this.#lists.nextPlace);
    if (this.#jobs.has(id)) {
      this.#record('duplicated', id);
      return id;
    }
    const { priority = given.opts.priority ?? 0, delay = given.opts.delay ?? 0 } = given;
    const job: StoredJob = {
      json: { ...given, id, priority, delay },
      state: delay > 0 ? 'delayed' : 'waiting',
      rank: delay > 0 ? given.timestamp + delay : priority,
      place: 0,
      lock: null,
    };
    this.#jobs.set(id, job);
    this.#lists.add(job, given.opts.lifo);
    this.#record('added', id, { name: given.name });
    if (job.state === 'waiting') this.#record('waiting', id);
    else this.#record('delayed', id, { delay: job.rank });
    this.#announce(job);
    return id;
  }

  get(id: string): JobJson | undefined {
    const job = this.#jobs.get(id);
    return job && { ...job.json };
  }

  stateOf(id: string): State | null {
    this.#wakeDue();
    return this.#jobs.get(id)?.state ?? null;
  }

  /** When a delayed job is due; 0 of others. */
  dueAt(id: string): number {
    const job = this.#jobs.get(id);
    return job?.state === 'delayed' ? job.rank : 0;
  }

  ids(): IterableIterator<string> {
    return this.#jobs.keys();
  }

  /** The jobs of one state in their order. */
  jobsIn(state: State): readonly StoredJob[] {
    this.#wakeDue();
    return this.#lists.in[state].items;
  }

  /** How many wait without a priority: they come first. */
  countWithoutPriority(): number {
    this.#wakeDue();
    return this.#lists.in.waiting.indexOf({ rank: 1, place: -Infinity });
  }

  /** Jobs of one priority that wait, as they came. */
  waitingAt(priority: number, limit: number): readonly JobJson[] {
    const waiting = this.jobsIn('waiting');
    const from = this.#lists.in.waiting.indexOf({ rank: priority, place: -Infinity });
    return waiting
      .slice(from, from + limit)
      .filter(({ rank }) => rank === priority)
      .map(({ json }) => json);
  }

  isPaused(): boolean {
    return this.meta.has('paused');
  }

  pause(isPaused: boolean): void {
    if (isPaused) this.meta.set('paused', '1');
    else this.meta.delete('paused');
    this.#record(isPaused ? 'paused' : 'resumed');
    this.work.ring();
  }

  /** When there will be something to take, as far as is known now; Infinity when nothing waits. */
  nextAt(): number {
    if (this.isPaused()) return Infinity;
    if (this.#lists.in.waiting.first !== undefined) return 0;
    return this.#lists.in.delayed.first?.rank ?? Infinity;
  }

  take({ token, lockMs, worker }: Claim): JobJson | null {
    this.#wakeDue();
    const job = this.#lists.in.waiting.first;
    if (job === undefined || this.isPaused()) return null;
    const now = Date.now();
    this.#lists.move(job, { state: 'active', rank: now });
    job.lock = { token, until: now + lockMs, isDoubtful: false };
    Object.assign(job.json, { processedOn: now, attemptsStarted: job.json.attemptsStarted + 1 });
    if (worker !== undefined) job.json.processedBy = worker;
    this.#record('active', job.json.id, { prev: 'waiting' });
    return { ...job.json };
  }

  /** False for a job that is another's by now. */
  extendLock(id: string, token: string, lockMs: number): boolean {
    const lock = this.#jobs.get(id)?.lock;
    if (lock?.token !== token) return false;
    Object.assign(lock, { until: Date.now() + lockMs, isDoubtful: false });
    return true;
  }

  end(id: string, token: string, { state, fields, keep }: Ending): number {
    const job = this.#taken(id, token);
    const now = Date.now();
    this.#release(job, { ...fields, finishedOn: now, attemptsMade: job.json.attemptsMade + 1 });
    delete job.json.deferredFailure;
    this.#lists.move(job, { state, rank: now });
    const { returnvalue, failedReason } = job.json;
    this.#record(state, id, { ...(state === 'completed' ? { returnvalue } : { failedReason }), prev: 'active' });
    this.#keep(job, keep);
    if (this.#lists.in.active.first === undefined && this.#lists.in.waiting.first === undefined)
      this.#record('drained');
    return now;
  }

  /** Puts a job that was taken back to wait. */
  giveBack(id: string, token: string, { dueAt, isAttempt, fields = {} }: Release): void {
    const job = this.#taken(id, token);
    const delay = Math.max(0, dueAt - Date.now());
    this.#release(job, { ...fields, delay, attemptsMade: job.json.attemptsMade + (isAttempt ? 1 : 0) });
    this.#lists.move(job, { state: 'delayed', rank: dueAt });
    this.#record('delayed', id, { delay: dueAt });
    this.#announce(job);
  }

  /**
   * Makes jobs due again whose worker has let their locks expire and not renewed them until the next look: after a pause of
   * the whole process its workers renew them first.
   */
  takeFromStalled(stalledMax: number): string[] {
    const now = Date.now();
    const expired = [...this.#lists.in.active.items].filter(({ lock }) => lock === null || lock.until <= now);
    const stalled = expired.filter(({ lock }) => lock?.isDoubtful !== false);
    for (const { lock } of expired) if (lock !== null) lock.isDoubtful = true;
    for (const job of stalled) {
      this.#release(job, { stalledCounter: job.json.stalledCounter + 1 });
      if (job.json.stalledCounter > stalledMax) job.json.deferredFailure = STALLED;
      this.#wait(job, 'active');
      this.#record('stalled', job.json.id);
    }
    return stalled.map(({ json }) => json.id);
  }

  /** Makes a finished job wait again. */
  retry(id: string, from: FinishedStatus): void {
    const job = this.#inState(id, from);
    for (const field of ['finishedOn', 'processedOn', 'failedReason', 'returnvalue'] as const) delete job.json[field];
    this.#wait(job, from);
  }

  /** Makes a delayed job wait before it is due. */
  promote(id: string): void {
    this.#wait(this.#inState(id, 'delayed'), 'delayed');
  }

  setPriority(id: string, priority: number, lifo = false): void {
    const job = this.#get(id);
    job.json.priority = priority;
    if (job.state === 'waiting') this.#lists.move(job, { state: 'waiting', rank: priority }, lifo);
  }

  /** False for a job that is being worked on. */
  remove(id: string): boolean {
    const job = this.#jobs.get(id);
    if (job === undefined) return true;
    if (job.lock !== null && job.lock.until > Date.now()) return false;
    this.#jobs.delete(id);
    this.#lists.remove(job);
    return true;
  }

  clear(): void {
    for (const job of this.#jobs.values()) this.#lists.remove(job);
    this.#jobs.clear();
    this.meta.clear();
    this.events.trim(0);
  }

  #wakeDue(): void {
    const now = Date.now();
    for (
      let job = this.#lists.in.delayed.first;
      job !== undefined && job.rank <= now;
      job = this.#lists.in.delayed.first
    ) {
      this.#wait(job, 'delayed');
    }
  }

  #wait(job: StoredJob, prev: State): void {
    job.json.delay = 0;
    this.#lists.move(job, { state: 'waiting', rank: job.json.priority ?? 0 });
    this.#record('waiting', job.json.id, { prev });
    this.#announce(job);
  }

  #announce(job: StoredJob): void {
    if (job.state === 'waiting' || this.#lists.in.delayed.first === job) this.work.ring();
  }

  #release(job: StoredJob, fields: Partial<JobJson>): void {
    job.lock = null;
    Object.assign(job.json, fields);
  }

  #keep(job: StoredJob, keep: Ending['keep']): void {
    if (keep === true || keep === 0) return void this.remove(job.json.id);
    const limits: { count?: number; age?: number } = typeof keep === 'number' ? { count: keep } : keep || {};
    const { count = Infinity, age = Infinity } = limits;
    const kept = this.#lists.in[job.state];
    const oldest = job.rank - age * SECOND_MS;
    for (let first = kept.first; first !== undefined; first = kept.first) {
      if (kept.items.length <= count && first.rank > oldest) return;
      this.remove(first.json.id);
    }
  }

  #get(id: string): StoredJob {
    const job = this.#jobs.get(id);
    if (job === undefined) throw refusal(id, ErrorCode.JobNotExist);
    return job;
  }

  #inState(id: string, state: State): StoredJob {
    const job = this.#get(id);
    if (job.state !== state) throw refusal(id, ErrorCode.JobNotInState);
    return job;
  }

  #taken(id: string, token: string): StoredJob {
    const job = this.#inState(id, 'active');
    if (job.lock?.token !== token) throw refusal(id, ErrorCode.JobLockMismatch);
    return job;
  }

  #record(event: string, jobId?: string, fields: Readonly<Record<string, string | number>> = {}): void {
    const length = Number(this.meta.get('opts.maxLenEvents') ?? NaN);
    this.events.add({ event, ...(jobId !== undefined && { jobId }), ...fields }, length || undefined);
  }
}

/** The library knows failures of a step by their codes. */
const refusal = (id: string, code: Refusal): Error =>
  Object.assign(new Error(`job ${id} ${REASONS[code]}`), { code: Number(code) });

const REASONS: Readonly<Record<Refusal, string>> = {
  [ErrorCode.JobNotExist]: 'does not exist',
  [ErrorCode.JobNotInState]: 'is in another state',
  [ErrorCode.JobLockMismatch]: 'is locked by another worker',
};

/** A job is in one of these lists, ranked by what is behind it. */
export type State =
  | 'waiting' // its priority; 0 is before all others
  | 'delayed' // when it is due
  | 'active' // when it was taken
  | FinishedStatus; // when it ended

export interface StoredJob extends Placed {
  readonly json: JobJson;
  state: State;
  lock: Lock | null;
}

/** Whose work an active job is. */
interface Lock {
  readonly token: string;
  until: number;
  /** It had expired when somebody looked before. */
  isDoubtful: boolean;
}

/** Every job of a queue, in the list of its state. */
class JobLists {
  readonly in: Readonly<Record<State, SortedList<StoredJob>>> = {
    waiting: new SortedList(),
    delayed: new SortedList(),
    active: new SortedList(),
    completed: new SortedList(),
    failed: new SortedList(),
  };
  nextPlace = 1;

  /** At the end of its rank, or before all of it. */
  add(job: StoredJob, isFirst = false): void {
    job.place = isFirst ? -this.nextPlace : this.nextPlace;
    this.nextPlace += 1;
    this.in[job.state].add(job);
  }

  remove(job: StoredJob): void {
    this.in[job.state].remove(job);
  }

  move(job: StoredJob, to: Pick<StoredJob, 'state' | 'rank'>, isFirst = false): void {
    this.remove(job);
    Object.assign(job, to);
    this.add(job, isFirst);
  }
}

/** Where an item stands in its list: by rank, and as they came within one rank. */
interface Placed {
  rank: number;
  place: number;
}

/** Items in their order. An item keeps its rank and place for as long as it is in the list. */
class SortedList<T extends Placed> {
  readonly #items: T[] = [];

  get items(): readonly T[] {
    return this.#items;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    const last = this.#items.at(-1);
    if (last === undefined || isBefore(last, item)) this.#items.push(item);
    else this.#items.splice(this.indexOf(item), 0, item);
  }

  remove(item: T): void {
    const index = this.indexOf(item);
    if (this.#items[index] !== item) return;
    if (index === 0) this.#items.shift();
    else this.#items.splice(index, 1);
  }

  /** Of the first item that does not stand before this. */
  indexOf(sought: Placed): number {
    let [from, to] = [0, this.#items.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const item = this.#items[middle];
      if (item !== undefined && isBefore(item, sought)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

const isBefore = (one: Placed, other: Placed): boolean =>
  one.rank < other.rank || (one.rank === other.rank && one.place < other.place);

/** As the library reads them: names and values in turns. */
type ReadEvent = [id: string, fields: string[]];
type Fields = Readonly<Record<string, string | number>>;

/** Where nobody says how many. */
const LENGTH = 1_000;

/** The last events of a queue. They are for views: nothing is driven by them. */
class EventHistory {
  readonly #bell = new Bell();
  readonly #events: { readonly id: number; readonly fields: Fields }[] = [];
  #lastId = 0;

  add(fields: Fields, length = LENGTH): string {
    this.#lastId += 1;
    this.#events.push({ id: this.#lastId, fields });
    while (this.#events.length > length) this.#events.shift();
    this.#bell.ring();
    return String(this.#lastId);
  }

  /** Removes all but the last. */
  trim(length: number): number {
    return this.#events.splice(0, Math.max(0, this.#events.length - length)).length;
  }

  /** Those after the id; waits for one if there is none yet. '$' stands for the last one there is. */
  async after(after: string, limitMs: number, signal: AbortSignal): Promise<ReadEvent[]> {
    const last = after === '$' ? this.#lastId : Number(after);
    if (this.#lastId <= last) await this.#bell.wait(limitMs, signal);
    const events = this.#events.filter(({ id }) => id > last);
    return events.map(({ id, fields }) => [String(id), Object.entries(fields).flat().map(String)]);
  }
}

/** Ends waits before their time is over. */
class Bell {
  readonly #waits = new Set<(rang: boolean) => void>();

  ring(): void {
    for (const end of [...this.#waits]) end(true);
  }

  /** Whether it rang in time; false at once when the signal says that nobody waits any more. */
  wait(limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (rang: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', give);
        this.#waits.delete(end);
        resolve(rang);
      };
      const give = (): void => end(false);
      const timer = setTimeout(give, limitMs);
      signal.addEventListener('abort', give, { once: true });
      this.#waits.add(end);
    });
  }
}
