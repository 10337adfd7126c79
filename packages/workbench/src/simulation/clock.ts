/** Simulated time, in ms, and what happens in it. Nothing else moves it: two runs of one seed do the same. */
export interface Clock {
  now(): number;
  /** Things of the same moment happen in the order in which they were planned. */
  at(ms: number, what: () => void): void;
  after(ms: number, what: () => void): void;
  /** Settles a promise: whoever waits for it goes on before anything else happens. */
  settle(what: () => void): void;
  /** Lets everything happen that is planned until then, and what that plans. */
  runUntil(ms: number): Promise<void>;
  /** How many things happened. */
  happened(): number;
}

export function startClock(): Clock {
  let [now, happened, isSettling] = [0, 0, false];
  const plan = emptyPlan();
  const at = (ms: number, what: () => void): void => plan.add(Math.max(now, ms), what);
  return {
    now: () => now,
    at,
    after: (ms, what) => at(now + ms, what),
    settle: (what) => {
      isSettling = true;
      what();
    },
    runUntil: async (ms) => {
      while (plan.next() <= ms) {
        now = plan.next();
        happened += 1;
        plan.take()();
        if (isSettling) await everyPromise();
        isSettling = false;
      }
      now = ms;
    },
    happened: () => happened,
  };
}

/** All that promises lead to has happened when the event loop turns. */
const everyPromise = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly what: () => void;
}

const isBefore = (a: Planned, b: Planned): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap: much is planned, and only the next thing is ever asked for. */
function emptyPlan() {
  const heap: Planned[] = [];
  let order = 0;
  return {
    next: (): number => heap[0]?.at ?? Number.POSITIVE_INFINITY,
    add: (at: number, what: () => void): void => {
      order += 1;
      rise(heap, { at, order, what });
    },
    take: (): (() => void) => {
      const [first, last] = [heap[0], heap.pop()];
      if (first === undefined || last === undefined) throw new Error('expected something that is planned, got nothing');
      if (first !== last) sink(heap, last);
      return first.what;
    },
  };
}

/** Puts one more in, before all that come later. */
function rise(heap: Planned[], one: Planned): void {
  let at = heap.length;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] as Planned;
    if (!isBefore(one, other)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = one;
}

/** Puts one in the place of the first, and behind all that come earlier. */
function sink(heap: Planned[], one: Planned): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const right = left + 1;
    const below = right < heap.length && isBefore(heap[right] as Planned, heap[left] as Planned) ? right : left;
    if (!isBefore(heap[below] as Planned, one)) break;
    heap[at] = heap[below] as Planned;
    at = below;
  }
  heap[at] = one;
}
