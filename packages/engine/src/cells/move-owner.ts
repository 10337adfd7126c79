import type { CellDirectory, CellPeers } from '../ports/cells.ts';
import type { Cancellation, Log, Tools } from '../ports/tools.ts';
import type { Millis } from '../words.ts';
import type { PlacedOwner } from './book.ts';
import { afterHandoverFailure, afterHandoverStep, type Handover } from './handovers.ts';

/**
 * An owner goes over from one cell to another. The row of the directory is the truth about how far it is, and each step may be done twice:
 * whoever is killed leaves a row that another goes on with.
 *
 *   copying      the source keeps new work of the owner back for a while, its lines are taken over at the destination, hidden
 *     copied     → departing      with the stamp of what was copied
 *     waits      → copying        work that began earlier is not over
 *     changed    → copying        something was written meanwhile
 *     absent     → leaving_off    there is no such owner, or no longer
 *     failed     → copying        later; leaving_off after GIVE_UP_AFTER of them: the owner is where it was
 *   departing    the source compares the stamp and cuts the owner off, in one transaction; from then on it answers "moved"
 *     departed   → arriving
 *     changed    → copying
 *     absent     → leaving_off
 *     failed     → departing      later, for as long as it takes: it may have happened
 *   arriving     the destination makes the owner visible
 *     arrived    → switched       the directory names the destination
 *     absent     → nowhere        it was erased meanwhile
 *     failed     → arriving       later, for as long as it takes
 *   leaving_off  what the destination may have taken over is thrown away
 *     thrown_away → given_up
 *     absent     → nowhere        the source does not have it either
 *     failed     → leaving_off    later
 *   recalling    the destination was lost before anybody knew whether the owner had departed: the source says so, and forgets the stamp
 *     thrown_away → given_up      it is still there, and no earlier request makes it depart any more
 *     departed   → switched       the directory names the destination: the owner is lost with it
 *     absent     → nowhere
 *     failed     → recalling      later
 *
 * nowhere: the move is over, and nothing of it is left in the directory. Should the owner begin anew, it does so where its slot is.
 *
 * From the departure to the arrival nobody has the owner: requests wait for it. At any other time exactly one cell does.
 */
export interface OwnerMove extends PlacedOwner {
  readonly id: string;
  readonly source: string;
  readonly destination: string;
  /** The directory's when the move was asked for: the source names it to whoever asks for the owner. */
  readonly epoch: number;
  /** Goes up with each claim: of two that believe they carry the move, only the later can write. */
  readonly attempt: number;
  readonly state: OwnerMoveState;
  /** What the destination has taken over; null: nothing yet. */
  readonly copy: OwnerCopy | null;
  /** Steps of this state that did not succeed. */
  readonly tries: number;
  /** Why the last of them did not; null: it did. */
  readonly why: string | null;
  /** Not before this time. */
  readonly dueAt: Millis;
}

export const OWNER_MOVE_STATES = ['copying', 'departing', 'arriving', 'leaving_off', 'recalling', 'given_up'] as const;
/** A move that was given up is kept, so that somebody reads why. One that has switched is over. */
export type OwnerMoveState = (typeof OWNER_MOVE_STATES)[number];

interface OwnerCopy {
  /** The import at the destination. */
  readonly importId: string;
  /** What the owner was while its lines were read. */
  readonly stamp: string;
}

export type MoveOutcome =
  | ({ readonly kind: 'copied' } & OwnerCopy)
  | { readonly kind: 'waits'; readonly why: string }
  | { readonly kind: 'changed' }
  | { readonly kind: 'departed' }
  | { readonly kind: 'arrived' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'thrown_away' }
  | { readonly kind: 'failed'; readonly why: string };

/** Failures of copying after which the owner stays where it is. */
const GIVE_UP_AFTER = 12;
/** Copies that were in vain count up to this, so that a failure after many of them is still only one. */
const CHANGES_COUNTED = 6;

/**
 * What follows from the outcome of a step. 'switched': the move is over, and the directory names the destination. 'nowhere': it is over, and
 * there is no such owner.
 */
export function afterStep(move: OwnerMove, outcome: MoveOutcome, now: Millis): OwnerMove | 'switched' | 'nowhere' {
  switch (outcome.kind) {
    case 'copied':
      // How often it was copied already goes on counting: somebody who asks all the time is not waited for for ever.
      return {
        ...entering(move, 'departing', { importId: outcome.importId, stamp: outcome.stamp }),
        tries: move.tries,
      };
    case 'departed':
      return move.state === 'recalling' ? 'switched' : entering(move, 'arriving', move.copy);
    case 'arrived':
      return 'switched';
    case 'changed':
      return {
        ...entering(move, 'copying', move.copy),
        tries: Math.min(move.tries + 1, CHANGES_COUNTED),
        dueAt: now + waitAfter(move.tries, SHORT),
      };
    case 'waits':
      return { ...move, why: outcome.why, tries: move.tries + 1, dueAt: now + waitAfter(move.tries, SHORT) };
    case 'absent':
      return move.state === 'copying' || move.state === 'departing'
        ? left(move, `the owner does not exist in ${move.source}`)
        : 'nowhere';
    case 'thrown_away':
      return givenUp(move, move.why);
    case 'failed': {
      const failed = { ...move, why: outcome.why, tries: move.tries + 1, dueAt: now + waitAfter(move.tries, LONG) };
      return move.state === 'copying' && failed.tries >= GIVE_UP_AFTER ? left(failed, outcome.why) : failed;
    }
  }
}

const entering = (move: OwnerMove, state: OwnerMoveState, copy: OwnerCopy | null): OwnerMove => ({
  ...move,
  ...{ state, copy, tries: 0, why: null, dueAt: 0 },
});

/** The owner stays where it is, or is nowhere any more. */
const left = (move: OwnerMove, why: string): OwnerMove => ({ ...move, state: 'leaving_off', why, tries: 0, dueAt: 0 });

const givenUp = (move: OwnerMove, why: string | null): OwnerMove => ({
  ...move,
  state: 'given_up',
  copy: null,
  why,
  dueAt: 0,
});

/** What becomes of a move from a cell or to it that is lost for good. */
export function afterLoss(move: OwnerMove, lost: string): OwnerMove | 'switched' {
  const why = `cell ${lost} is lost`;
  if (move.source === lost) {
    if (move.state === 'copying') return left(move, why);
    // What was copied is all that is left of the owner, whether it had departed or not.
    if (move.state === 'departing') return entering(move, 'arriving', move.copy);
    return move.state === 'recalling' ? givenUp(move, why) : move;
  }
  if (move.state === 'arriving') return 'switched';
  return move.state === 'departing' ? { ...entering(move, 'recalling', null), why } : givenUp(move, why);
}

interface Waits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Until what was written has been consolidated, or work that began is over. */
const SHORT: Waits = { firstMs: 100, mostMs: 10_000 };
/** Until a cell is back. */
const LONG: Waits = { firstMs: 250, mostMs: 30_000 };

const waitAfter = (tries: number, { firstMs, mostMs }: Waits): number => Math.min(mostMs, firstMs * 2 ** tries);

export interface CarryDeps {
  readonly directory: CellDirectory;
  readonly peers: CellPeers;
  readonly tools: Pick<Tools, 'now' | 'id'>;
  readonly log: Log;
}

/** How long a claim of a move or handover holds: as long as its owner can have to wait if whoever claimed it is killed. */
export const CARRY_LEASE_MS = 5_000;
/** While an owner is copied nobody waits, and a large one takes its time. */
const COPYING_LEASE_MS = 120_000;
/** Longer than any claim, hold or wait in the directory. */
export const CLAIM_MOST_MS = 600_000;

/** Does what is to be done next for an owner that is moved, until it has to wait. */
export async function carryMove(deps: CarryDeps, taken: OwnerMove, cancel: Cancellation): Promise<void> {
  const { directory, tools, log } = deps;
  for (let move = await extended(deps, taken); move !== null && !cancel.aborted; ) {
    const next = afterStep(move, await stepOf(deps.peers, move), tools.now());
    if (next === 'nowhere') return void (await directory.dropMove(move));
    if (next !== 'switched') {
      move = await kept(deps, next);
      continue;
    }
    if (await directory.switchOwner(move)) log.debug({ move: move.id, to: move.destination }, 'an owner moved');
    return;
  }
}

/** A step that takes long needs a claim that holds as long. null: somebody else has it. */
async function extended({ directory, tools }: CarryDeps, move: OwnerMove): Promise<OwnerMove | null> {
  if (move.state !== 'copying') return move;
  return (await directory.keepMove(move, tools.now() + COPYING_LEASE_MS)) ? move : null;
}

/** Writes how far a move is. Returns it if there is something to be done for it at once. */
async function kept({ directory, tools, log }: CarryDeps, move: OwnerMove): Promise<OwnerMove | null> {
  const rests = move.dueAt > tools.now() || move.state === 'given_up';
  const leaseMs = move.state === 'copying' ? COPYING_LEASE_MS : CARRY_LEASE_MS;
  if (!(await directory.keepMove(move, rests ? move.dueAt : tools.now() + leaseMs))) return null;
  if (move.why !== null)
    log.info({ move: move.id, state: move.state, why: move.why }, 'an owner could not be moved yet');
  return rests ? null : move;
}

async function stepOf(peers: CellPeers, move: OwnerMove): Promise<MoveOutcome> {
  try {
    switch (move.state) {
      case 'copying':
        return await peers.copy(move);
      case 'departing':
        return await peers.depart(move);
      case 'arriving':
        return await peers.finish(move);
      case 'recalling':
        return await peers.recall(move);
      case 'leaving_off':
      case 'given_up':
        return await peers.throwAway(move);
    }
  } catch (error) {
    return { kind: 'failed', why: whyOf(error) };
  }
}

/** The same for slots that change hands. */
export async function carryHandover(deps: CarryDeps, taken: Handover, cancel: Cancellation): Promise<void> {
  const { directory, tools, log } = deps;
  for (let handover = taken; !cancel.aborted; ) {
    const next = await afterWork(deps, handover);
    if (next === 'over') return void (await directory.endHandover(handover));
    if (next === 'overtaken') return;
    const rests = next.dueAt > tools.now();
    if (!(await directory.keepHandover(next, rests ? next.dueAt : tools.now() + CARRY_LEASE_MS))) return;
    if (next.why !== null)
      log.info({ handover: next.id, state: next.state, why: next.why }, 'slots could not be handed over yet');
    if (rests) return;
    handover = next;
  }
}

/** How often it is looked whether the owners of slots that changed hands are moved. */
const EMPTYING_MS = 250;

async function afterWork(deps: CarryDeps, handover: Handover): Promise<Handover | 'over' | 'overtaken'> {
  const { directory, tools } = deps;
  try {
    if (handover.state === 'opening') return await opened(deps, handover);
    if (handover.state === 'emptying') {
      const left = await directory.unmovedOf(handover, handover.source);
      return left === 0 ? afterHandoverStep(handover) : { ...handover, dueAt: tools.now() + EMPTYING_MS };
    }
    await tell(deps, handover.source);
    return afterHandoverStep(handover);
  } catch (error) {
    return afterHandoverFailure(handover, whyOf(error), tools.now());
  }
}

/** No owner can appear at the source any more: those that it has are all there will be. */
async function opened(deps: CarryDeps, handover: Handover): Promise<Handover | 'overtaken'> {
  const { directory, peers, tools } = deps;
  await tell(deps, handover.destination);
  const owners = await peers.ownersIn(handover.source, handover);
  const movable = owners.map((owner) => ({ ...owner, moveId: tools.id('mov') }));
  const next = afterHandoverStep(handover);
  return next !== 'over' && (await directory.switchSlots(next, movable)) ? next : 'overtaken';
}

/** From the directory as it is, so that a cell that hears two at once keeps the newer one. */
async function tell({ directory, peers }: CarryDeps, cell: string): Promise<void> {
  await peers.tellSlots(cell, await directory.slotsOf(cell));
}

const whyOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
