import type { CellDirectory, CellPeers } from '../ports/cells.ts';
import type { Cancellation, Log, Tools } from '../ports/tools.ts';
import { afterHandoverFailure, afterHandoverStep, type Handover } from './handover.ts';
import { afterStep, type MoveOutcome, type OwnerMove } from './move-owner.ts';

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
