import type { FinishedStatus, JobJson } from 'bullmq';

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
export class JobLists {
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
export class EventHistory {
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
export class Bell {
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
