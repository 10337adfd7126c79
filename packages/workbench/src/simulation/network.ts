import type { Random } from '../chaos/random.ts';
import type { Clock } from './clock.ts';

/** A program. What it only remembers is gone when it dies. */
export interface Node {
  readonly name: string;
  isUp: boolean;
  /** It never comes back. */
  isLost: boolean;
  /** Goes up when it dies: answers to an earlier life reach nobody. */
  life: number;
  /** Until when it stands still, as a machine that is short of memory does, and hears nothing; it does not know that. */
  frozenUntil: number;
  /** Processor time that its work took, in ms. */
  busyMs: number;
  /** Requests that it was asked. */
  asked: number;
}

export const nodeOf = (name: string): Node => ({
  ...{ name, isUp: true, isLost: false, life: 0 },
  ...{ frozenUntil: 0, busyMs: 0, asked: 0 },
});

interface Call<A> {
  readonly from: Node;
  readonly to: Node;
  /** Processor time that it takes there, in ms. */
  readonly work: number;
  /** How long the answer is waited for, in ms. */
  readonly patience: number;
  /** What happens there, at one moment: a transaction. */
  readonly run: () => A;
  readonly answered: (answer: A) => void;
  /** Nobody knows whether it happened. */
  readonly failed: () => void;
  /** Who asked is no more. */
  readonly orphaned?: () => void;
}

export interface Network {
  call<A>(call: Call<A>): void;
  /** The same as a promise; of one who dies it is never settled. */
  ask<A>(call: Pick<Call<A>, 'from' | 'to' | 'work' | 'run'>): Promise<Awaited<A>>;
  /** Never over for one who dies meanwhile. */
  sleep(node: Node, ms: number): Promise<void>;
  kill(node: Node): void;
  start(node: Node): void;
  /** Nothing passes between two nodes for so long, and neither knows. */
  cut(between: readonly [Node, Node], ms: number): void;
}

/** Half a millisecond to another host of the same place, mostly. */
const NEAR_MS = 0.25;
const VARIES_MS = 0.25;
/** A message that comes late does so within this time: whoever sent it has sent it again. */
const LATE_MS = 30_000;
/** How long programs wait for one another. */
export const PATIENCE_MS = 10_000;

/** `lost`: of all messages; as many come late. */
export function openNetwork(clock: Clock, random: Random, lost: number): Network {
  const cuts = new Map<string, number>();
  const pairOf = (a: Node, b: Node): string => [a.name, b.name].sort().join(' ');
  const isCut = (a: Node, b: Node): boolean => cuts.size > 0 && (cuts.get(pairOf(a, b)) ?? 0) > clock.now();
  /** When a message that is sent now comes to where it goes; never, if it is lost. */
  const arrival = (from: Node, to: Node): number => {
    const fate = random.next();
    if (fate < lost || isCut(from, to)) return Number.POSITIVE_INFINITY;
    const late = fate < 2 * lost ? random.next() * LATE_MS : 0;
    return clock.now() + NEAR_MS - Math.log(1 - random.next()) * VARIES_MS + late;
  };
  /** Something happens to a node once it is no longer frozen. */
  const reach = (node: Node, at: number, what: () => void): void =>
    clock.at(Math.max(at, node.frozenUntil), () =>
      node.frozenUntil > clock.now() ? reach(node, node.frozenUntil, what) : what(),
    );
  const call = <A>({ from, to, work, patience, run, answered, failed, orphaned }: Call<A>): void => {
    const [life, ends] = [from.life, clock.now() + patience];
    const hear = (at: number, what: () => void): void =>
      reach(from, Math.min(at, ends), () => {
        if (from.life !== life) orphaned?.();
        else if (at <= ends) what();
        else failed();
      });
    const there = arrival(from, to);
    if (there + work > ends) hear(Number.POSITIVE_INFINITY, failed);
    if (there === Number.POSITIVE_INFINITY) return;
    reach(to, there + work, () => {
      const back = there + work > ends ? null : arrival(to, from);
      if (!to.isUp) {
        if (back !== null) hear(back, failed);
        return;
      }
      to.busyMs += work;
      to.asked += 1;
      const answer = run();
      if (back !== null) hear(back, () => answered(answer));
    });
  };
  return {
    call,
    ask: <A>(asked: Pick<Call<A>, 'from' | 'to' | 'work' | 'run'>) =>
      new Promise<Awaited<A>>((resolve, reject) =>
        call<A>({
          ...asked,
          patience: PATIENCE_MS + asked.work,
          answered: (answer) => clock.settle(() => resolve(answer as Awaited<A>)),
          failed: () => clock.settle(() => reject(new Error(`expected an answer of ${asked.to.name}, got none`))),
        }),
      ),
    sleep: (node, ms) => {
      const { life } = node;
      return new Promise((resolve) =>
        reach(node, clock.now() + ms, () => {
          if (node.life === life) clock.settle(resolve);
        }),
      );
    },
    kill: (node) => {
      node.isUp = false;
      node.life += 1;
      node.frozenUntil = 0;
    },
    start: (node) => {
      node.isUp = !node.isLost;
    },
    cut: ([a, b], ms) => void cuts.set(pairOf(a, b), clock.now() + ms),
  };
}
