import type { SlotRun } from '@slowwave/engine/cells';
import { nodeOf } from './network.ts';
import type { BatchNo, Held, OwnerNo, Truth } from './truth.ts';

/** The rules of a cell that keep owners whole. A simulation that leaves one out has to find what comes of it. */
export type Rule = 'away' | 'closed' | 'stamp' | 'lane' | 'keys' | 'hidden';

interface Departure {
  readonly to: string;
  readonly epoch: number;
  readonly stamp: string;
  /** How long it is answered that the owner moved. */
  readonly until: number;
}

/** That whoever asks for an owner asks the wrong cell; `to` is null where only the directory knows the right one. */
export interface Moved {
  readonly to: string | null;
  readonly epoch: number;
}

export interface CellWorld {
  readonly now: () => number;
  readonly slotOf: (owner: OwnerNo) => number;
  readonly truth: Truth;
  /** The rule that is left out. */
  readonly without: Rule | null;
}

interface Arriving {
  readonly id: string;
  readonly stamp: string;
  lines: Held | null;
}

/** What lies between the last message and the turn that consolidates it, and how long that takes, in ms. */
const IDLE_MS = 20_000;
const TURN_MS = 4_000;

const NEVER = Number.NEGATIVE_INFINITY;

export type SimCell = ReturnType<typeof startCell>;

/** A cell, reduced to what moves are about. Every method is one transaction of its ledger, which outlives its programs. */
export function startCell(name: string, world: CellWorld) {
  const ledger = openLedger(name, world);
  return { name, node: nodeOf(name), ...forRequests(ledger), ...forSources(ledger), ...forDestinations(ledger) };
}

function openLedger(name: string, world: CellWorld) {
  const { now, slotOf, truth, without } = world;
  const here = new Map<OwnerNo, Held>();
  const arriving = new Map<OwnerNo, Arriving>();
  const arrived = new Map<OwnerNo, string>();
  const away = new Map<OwnerNo, Departure>();
  const leases = new Map<OwnerNo, number>();
  let lanes = 0;
  let slots: { readonly epoch: number; readonly closed: readonly SlotRun[] } = { epoch: 0, closed: [] };

  const isClosed = (slot: number): boolean => slots.closed.some(({ from, to }) => from <= slot && slot <= to);
  /** null: the owner is here, or may come to be here. */
  const movedOf = (owner: OwnerNo): Moved | null => {
    if (here.has(owner)) return null;
    const gone = without === 'away' ? undefined : away.get(owner);
    if (gone !== undefined && gone.until > now()) return gone;
    return without !== 'closed' && isClosed(slotOf(owner)) ? { to: null, epoch: slots.epoch } : null;
  };
  const newLane = (): number => {
    lanes += 1;
    return lanes;
  };
  const newcomer = (): Held => ({ batches: [], keys: [], lane: newLane(), changes: 0, lastAt: NEVER });
  /** Names what an owner has here: whoever departs by it takes all of it along. */
  const stampOf = ({ lane, changes }: Held): string => `${without === 'lane' ? '' : lane} ${changes}`;
  const show = (owner: OwnerNo, held: Held): Held => {
    here.set(owner, held);
    truth.appeared(owner, name, held);
    return held;
  };

  const tell = (told: typeof slots): void => {
    if (told.epoch >= slots.epoch) slots = told;
  };
  return { ...world, name, here, arriving, arrived, away, leases, movedOf, newLane, newcomer, stampOf, show, tell };
}

type SimLedger = ReturnType<typeof openLedger>;

function forRequests({ here, movedOf, show, newcomer, now, truth }: SimLedger) {
  return {
    append: (owner: OwnerNo, batch: BatchNo): Moved | 'accepted' => {
      const moved = movedOf(owner);
      if (moved !== null) return moved;
      const held = here.get(owner) ?? show(owner, newcomer());
      if (held.keys.includes(batch)) return 'accepted';
      held.batches.push(batch);
      if (held.keys !== held.batches) held.keys.push(batch);
      held.changes += 1;
      held.lastAt = now();
      truth.accepted(owner, batch);
      return 'accepted';
    },
    search: (owner: OwnerNo, acknowledgedBefore: number): Moved | 'found' => {
      const moved = movedOf(owner);
      if (moved !== null) return moved;
      truth.searched(owner, here.get(owner) ?? null, acknowledgedBefore);
      return 'found';
    },
    /** Somebody who was here before anything began. */
    settle: (owner: OwnerNo): void => void show(owner, newcomer()),
    homes: (): ReadonlyMap<OwnerNo, Held> => here,
  };
}

function forSources({ name, here, leases, away, stampOf, slotOf, now, truth, without }: SimLedger) {
  return {
    /** No turn of the owner begins until then. Whether one that began before is not over. */
    leave: (owner: OwnerNo, until: number): 'free' | 'busy' => {
      const begins = (here.get(owner)?.lastAt ?? NEVER) + IDLE_MS;
      const wasHeld = (leases.get(owner) ?? 0) > begins;
      leases.set(owner, until);
      return !wasHeld && begins <= now() && now() < begins + TURN_MS ? 'busy' : 'free';
    },
    /** What is to be moved; null: the owner is not here. */
    linesOf: (owner: OwnerNo): { readonly lines: Held; readonly stamp: string } | null => {
      const held = here.get(owner);
      if (held === undefined) return null;
      const keys = without === 'keys' ? [] : [...held.keys];
      return { lines: { ...held, batches: [...held.batches], keys }, stamp: stampOf(held) };
    },
    depart: (owner: OwnerNo, departure: Departure): 'departed' | 'changed' | 'gone' => {
      const gone = away.get(owner);
      if (gone !== undefined) return gone.to === departure.to && gone.epoch === departure.epoch ? 'departed' : 'gone';
      const held = here.get(owner);
      if (held === undefined) return 'gone';
      if (without !== 'stamp' && stampOf(held) !== departure.stamp) return 'changed';
      here.delete(owner);
      leases.delete(owner);
      away.set(owner, departure);
      truth.vanished(owner, name);
      return 'departed';
    },
    ownersIn: ({ from, to }: SlotRun): readonly OwnerNo[] =>
      [...here.keys()].filter((owner) => from <= slotOf(owner) && slotOf(owner) <= to),
  };
}

function forDestinations({ here, away, arriving, arrived, newLane, show, tell, without }: SimLedger) {
  return {
    /** Begins to take lines over, which nobody sees; answers with the import that has these lines or is in their way. */
    begin: (owner: OwnerNo, { id, stamp }: Omit<Arriving, 'lines'>): { id: string } | { other: string } | 'exists' => {
      if (here.has(owner)) return 'exists';
      const before = arriving.get(owner);
      if (before !== undefined) return before.stamp === stamp ? { id: before.id } : { other: before.id };
      arriving.set(owner, { id, stamp, lines: null });
      return { id };
    },
    take: (owner: OwnerNo, id: string, lines: Held): boolean => {
      const one = arriving.get(owner);
      if (one?.id !== id) return false;
      one.lines = { ...lines, lane: newLane() };
      if (without === 'hidden') show(owner, one.lines);
      return true;
    },
    /** From now on the owner is here. */
    finish: (owner: OwnerNo, id: string): 'arrived' | 'gone' => {
      if (arrived.get(owner) === id) return 'arrived';
      const one = arriving.get(owner);
      if (one?.id !== id || one.lines === null) return 'gone';
      arriving.delete(owner);
      away.delete(owner);
      arrived.set(owner, id);
      show(owner, one.lines);
      return 'arrived';
    },
    throwAway: (owner: OwnerNo, id: string): void => {
      if (arriving.get(owner)?.id === id) arriving.delete(owner);
    },
    /** Which slots take no new owners. What an older epoch says is ignored. */
    tellSlots: tell,
    /** What lies here, and nobody sees yet. */
    hidden: (): readonly (readonly [OwnerNo, Held])[] =>
      [...arriving].flatMap(([owner, { lines }]) => (lines === null ? [] : [[owner, lines] as const])),
  };
}
