import {
  CARRY_LEASE_MS,
  type CarryDeps,
  type CellDirectory,
  type CellPeers,
  carryHandover,
  carryMove,
  type MoveOutcome,
  type OwnerMove,
  type PlacedOwner,
} from '@slowwave/engine/cells';
import type { Random } from '../chaos/random.ts';
import type { SimCell } from './cell.ts';
import type { Clock } from './clock.ts';
import { type Network, type Node, nodeOf } from './network.ts';
import type { OwnerNo } from './truth.ts';

/** How many owners a program moves at a time, and how often it looks for more. */
const AT_ONCE = 8;
const LOOK_MS = 250;
/** How long turns of an owner are kept back, in ms. */
const LEAVE_MS = 60_000;
/** How long it is answered that an owner moved: as long as the longest key is kept. */
const AWAY_MS = 2 * 86_400_000;
/** Clocks of hosts differ by so much, in ms. */
const SKEW_MS = 2_000;

export interface CarrierWorld {
  readonly clock: Clock;
  readonly network: Network;
  readonly random: Random;
  readonly directory: { readonly node: Node; readonly store: CellDirectory };
  readonly cells: ReadonlyMap<string, SimCell>;
  readonly ownerOf: (key: string) => OwnerNo;
  readonly placed: (owner: OwnerNo) => PlacedOwner;
  readonly newId: (kind: string) => string;
  /** Processor time, in ms: of a small request, of a transaction of the directory, and of reading or writing all of an owner. */
  readonly work: { readonly small: number; readonly directory: number; readonly lines: number };
}

export type SimCarrier = ReturnType<typeof startCarrier>;

/** A program that carries out the moves which the directory has, with the product's own code. */
export function startCarrier(name: string, world: CarrierWorld) {
  const { network, random, clock } = world;
  const node = nodeOf(name);
  const skew = (random.next() * 2 - 1) * SKEW_MS;
  const deps: CarryDeps = {
    directory: directoryFor(node, world),
    peers: peersFor(node, world),
    tools: { now: () => Math.round(clock.now() + skew), id: world.newId },
    log: SILENT,
  };
  const cancel = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };
  const claim = () => ({ now: deps.tools.now(), leaseMs: CARRY_LEASE_MS, limit: 1 });
  const moveOwners = async (): Promise<void> => {
    for (;;) {
      const [move] = await deps.directory.takeMoves(claim()).catch(() => []);
      if (move === undefined) await network.sleep(node, LOOK_MS);
      else await carryMove(deps, move, cancel).catch(() => undefined);
    }
  };
  const handSlotsOver = async (): Promise<void> => {
    for (;;) {
      const [handover] = await deps.directory.takeHandovers(claim()).catch(() => []);
      if (handover === undefined) await network.sleep(node, LOOK_MS);
      else await carryHandover(deps, handover, cancel).catch(() => undefined);
    }
  };
  const start = (): void => {
    network.start(node);
    void handSlotsOver();
    for (let n = 0; n < AT_ONCE; n += 1) void moveOwners();
  };
  start();
  return { node, start };
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The directory, as far as a carrier uses it, over the network. */
function directoryFor(from: Node, { network, directory, work }: CarrierWorld): CellDirectory {
  const { node: to, store } = directory;
  const ask = <A>(run: () => Promise<A>): Promise<A> =>
    network.ask({ from, to, work: work.directory, run }) as Promise<A>;
  return {
    ...store,
    takeMoves: (claim) => ask(() => store.takeMoves(claim)),
    keepMove: (move, until) => ask(() => store.keepMove(move, until)),
    switchOwner: (move) => ask(() => store.switchOwner(move)),
    dropMove: (move) => ask(() => store.dropMove(move)),
    takeHandovers: (claim) => ask(() => store.takeHandovers(claim)),
    keepHandover: (handover, until) => ask(() => store.keepHandover(handover, until)),
    endHandover: (handover) => ask(() => store.endHandover(handover)),
    slotsOf: (cell) => ask(() => store.slotsOf(cell)),
    switchSlots: (handover, owners) => ask(() => store.switchSlots(handover, owners)),
    unmovedOf: (run, source) => ask(() => store.unmovedOf(run, source)),
  };
}

function peersFor(from: Node, world: CarrierWorld): CellPeers {
  const { network, clock, cells, ownerOf, placed, newId, work } = world;
  const at = <A>(name: string, run: (cell: SimCell) => A, ms = work.small): Promise<Awaited<A>> => {
    const cell = cells.get(name);
    if (cell === undefined) throw new Error(`expected a cell, got ${name}`);
    return network.ask({ from, to: cell.node, work: ms, run: () => run(cell) });
  };
  /** An import of these lines, whatever of earlier tries is in its way. */
  const begin = async (move: OwnerMove, stamp: string): Promise<string | null> => {
    const owner = ownerOf(move.key);
    const wanted = { id: newId('imp'), stamp };
    const begun = await at(move.destination, (cell) => cell.begin(owner, wanted));
    if (begun === 'exists') return null;
    if ('id' in begun) return begun.id;
    await at(move.destination, (cell) => cell.throwAway(owner, begun.other));
    return begin(move, stamp);
  };
  return {
    copy: async (move): Promise<MoveOutcome> => {
      const owner = ownerOf(move.key);
      const left = await at(move.source, (cell) => cell.leave(owner, clock.now() + LEAVE_MS));
      if (left === 'busy') return { kind: 'waits', why: 'a turn that began earlier' };
      const read = await at(move.source, (cell) => cell.linesOf(owner), work.lines);
      if (read === null) return { kind: 'absent' };
      const { lines, stamp } = read;
      const importId = await begin(move, stamp);
      if (importId === null) return { kind: 'failed', why: 'the owner is at the destination' };
      const isTaken = await at(move.destination, (cell) => cell.take(owner, importId, lines), work.lines);
      return isTaken
        ? { kind: 'copied', importId, stamp }
        : { kind: 'failed', why: 'another import of the owner is in the way' };
    },
    depart: async (move): Promise<MoveOutcome> => {
      const departure = {
        to: move.destination,
        epoch: move.epoch,
        stamp: move.copy?.stamp ?? '',
        until: clock.now() + AWAY_MS,
      };
      const departed = await at(move.source, (cell) => cell.depart(ownerOf(move.key), departure));
      return departed === 'gone' ? { kind: 'absent' } : { kind: departed };
    },
    finish: async (move): Promise<MoveOutcome> => {
      const id = move.copy?.importId ?? '';
      const finished = await at(move.destination, (cell) => cell.finish(ownerOf(move.key), id));
      return finished === 'gone' ? { kind: 'absent' } : { kind: 'arrived' };
    },
    throwAway: async (move): Promise<MoveOutcome> => {
      const id = move.copy?.importId ?? '';
      await at(move.destination, (cell) => cell.throwAway(ownerOf(move.key), id));
      return { kind: 'thrown_away' };
    },
    // The lost cell of the simulation stays in the directory.
    recall: async () => ({ kind: 'failed', why: 'no cell is given up here' }),
    tellLoss: async () => 0,
    tellSlots: async (name, slots) => void (await at(name, (cell) => cell.tellSlots(slots))),
    ownersIn: async (name, run) => (await at(name, (cell) => cell.ownersIn(run))).map(placed),
  };
}
