import { type CellDirectory, type DirectoryBook, directoryBook } from '@slowwave/engine/cells';
import type { Random } from '../chaos/random.ts';
import type { Moved, SimCell } from './cell.ts';
import type { Clock } from './clock.ts';
import { type Network, type Node, nodeOf, PATIENCE_MS } from './network.ts';
import type { OwnerNo } from './truth.ts';

/** How often a router asks what has changed. */
const POLL_MS = 1_000;
/** How long a request waits at a router for an owner that is on its way, and how often it looks. */
const WAIT_MS = 5_000;
const LOOK_MS = 25;

export interface Request {
  readonly owner: OwnerNo;
  /** Processor time at the cell, in ms. */
  readonly work: number;
  readonly at: (cell: SimCell) => Moved | 'accepted' | 'found';
  readonly answered: () => void;
  /** on its way: no cell has the owner now. away: whether it happened is not known. */
  readonly failed: (why: 'on its way' | 'away') => void;
}

export interface RouterWorld {
  readonly clock: Clock;
  readonly network: Network;
  readonly random: Random;
  readonly directory: { readonly node: Node; readonly store: CellDirectory };
  readonly cells: ReadonlyMap<string, SimCell>;
  readonly keyOf: (owner: OwnerNo) => string;
  /** Processor time of passing a request on, and of telling what changed, in ms. */
  readonly work: { readonly route: number; readonly changes: number };
}

export type SimRouter = ReturnType<typeof startRouter>;

/** Finds the cell of an owner in its own copy of the directory, and passes requests on. */
export function startRouter(name: string, world: RouterWorld) {
  const { clock, network, random, directory, cells, keyOf, work } = world;
  const node = nodeOf(name);
  const told = { routed: 0 };
  let book: DirectoryBook = directoryBook();
  let heardAt = Number.NEGATIVE_INFINITY;
  let isAsking = false;

  const refresh = (): void => {
    if (isAsking) return;
    isAsking = true;
    // It answers for this copy, whatever starts anew meanwhile.
    const asking = book;
    const after = asking.epoch();
    void network
      .ask({ from: node, to: directory.node, work: work.changes, run: () => directory.store.changes(after) })
      .then(
        (changes) => {
          asking.apply(changes);
          heardAt = clock.now();
          isAsking = false;
        },
        () => {
          isAsking = false;
        },
      );
  };
  const poll = async (): Promise<void> => {
    for (;;) {
      refresh();
      await network.sleep(node, POLL_MS);
    }
  };
  const start = (): void => {
    [book, heardAt, isAsking] = [directoryBook(), Number.NEGATIVE_INFINITY, false];
    network.start(node);
    clock.after(random.next() * POLL_MS, () => void poll());
  };
  const route = (request: Request, until: number): void => {
    const cell = cells.get(book.epoch() === 0 ? '' : book.cellOf(keyOf(request.owner)));
    if (cell === undefined) {
      request.failed('away');
      return;
    }
    told.routed += 1;
    node.busyMs += work.route;
    network.call<Moved | 'accepted' | 'found'>({
      from: node,
      to: cell.node,
      work: request.work,
      patience: PATIENCE_MS,
      run: () => request.at(cell),
      answered: (answer) => (typeof answer === 'string' ? request.answered() : wait(request, until)),
      failed: () => request.failed('away'),
      orphaned: () => request.failed('away'),
    });
  };
  /** The copy is old, or the owner is on its way. */
  const wait = (request: Request, until: number): void => {
    refresh();
    const { life } = node;
    const again = (): void => (node.life === life ? route(request, until) : request.failed('away'));
    if (clock.now() >= until) request.failed('on its way');
    else clock.after(LOOK_MS, again);
  };
  start();
  return {
    node,
    told,
    /** It knows where cells are. */
    isReady: () => node.isUp && book.epoch() > 0,
    start,
    route: (request: Request): void => route(request, clock.now() + WAIT_MS),
    /** Of its copy. */
    epoch: () => book.epoch(),
    /** How long ago it heard of the directory, in ms. */
    age: () => clock.now() - heardAt,
  };
}
