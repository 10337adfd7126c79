import type { Random } from '../chaos/random.ts';
import type { SimCarrier } from './carriers.ts';
import type { SimCell } from './cell.ts';
import type { Clock } from './clock.ts';
import type { Network, Node } from './network.ts';
import type { SimRouter } from './routers.ts';

export interface FaultyWorld {
  readonly clock: Clock;
  readonly network: Network;
  readonly random: Random;
  readonly directory: Node;
  readonly cells: ReadonlyMap<string, SimCell>;
  readonly routers: readonly SimRouter[];
  readonly carriers: readonly SimCarrier[];
}

const SECOND_MS = 1_000;

/** What goes wrong, and how often compared with the others. */
const FAULTS = {
  'a program that moves owners is killed': 10,
  'a program that moves owners stands still for longer than its claims hold': 2,
  'a router is killed': 3,
  'a router does not reach the directory': 3,
  'a cell is killed': 3,
  'a cell stands still': 1,
  'a program that moves owners does not reach a cell': 3,
  'a router does not reach a cell': 1,
  'the directory is killed': 1,
} as const;
export type Fault = keyof typeof FAULTS;

/** Lets things go wrong, on average every so often, until then. */
export function startFaults(
  world: FaultyWorld,
  { everyMs, ends }: { readonly everyMs: number; readonly ends: number },
) {
  const { clock, random } = world;
  const counts = new Map<Fault, number>();
  const bag = Object.entries(FAULTS).flatMap(([fault, weight]) => Array<Fault>(weight).fill(fault as Fault));
  const next = (): void =>
    clock.after(-Math.log(1 - random.next()) * everyMs, () => {
      if (clock.now() >= ends) return;
      const fault = random.pick(bag);
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      strike(world, fault);
      next();
    });
  next();
  return counts;
}

function strike({ clock, network, random, directory, ...world }: FaultyWorld, fault: Fault): void {
  const seconds = (from: number, to: number): number => random.between(from * SECOND_MS, to * SECOND_MS);
  const cell = (): SimCell => random.pick([...world.cells.values()].filter(({ node }) => node.isUp));
  const router = (): SimRouter => random.pick(world.routers);
  const carrier = (): SimCarrier => random.pick(world.carriers);
  const kill = ({ node, start }: { node: Node; start?: () => void }, ms: number): void => {
    if (!node.isUp) return;
    network.kill(node);
    clock.after(ms, start ?? (() => network.start(node)));
  };
  const freeze = ({ node }: { node: Node }, ms: number): void => {
    node.frozenUntil = clock.now() + ms;
  };
  const strikes: Readonly<Record<Fault, () => void>> = {
    'a program that moves owners is killed': () => kill(carrier(), seconds(1, 10)),
    'a program that moves owners stands still for longer than its claims hold': () =>
      freeze(carrier(), seconds(30, 120)),
    'a router is killed': () => kill(router(), seconds(1, 20)),
    'a router does not reach the directory': () => network.cut([router().node, directory], seconds(5, 90)),
    'a cell is killed': () => kill({ node: cell().node }, seconds(5, 60)),
    'a cell stands still': () => freeze(cell(), seconds(2, 15)),
    'a program that moves owners does not reach a cell': () =>
      network.cut([carrier().node, cell().node], seconds(5, 30)),
    'a router does not reach a cell': () => network.cut([router().node, cell().node], seconds(5, 30)),
    'the directory is killed': () => kill({ node: directory }, seconds(2, 15)),
  };
  strikes[fault]();
}
