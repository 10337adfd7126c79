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
