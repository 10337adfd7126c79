import type { Cell, CellState, DirectoryChanges, PlacedOwner, SlotRun, TenantPlace } from '../cells/book.ts';
import type { Handover, PlannedHandover } from '../cells/handovers.ts';
import type { MoveOutcome, OwnerMove, OwnerMoveState } from '../cells/move-owner.ts';
import type { AskedShare, KeptShare } from '../cells/shares.ts';
import type { Millis, TenantId } from '../words.ts';

/** Where everybody is: small, and asked by routers only for what changed. Each change raises its epoch. */
export interface CellDirectory {
  /** The time by which claims, holds and leases in it are: its own, since clocks of routers differ. */
  now(): Promise<Millis>;
  /** What changed after an epoch. */
  changes(after: number): Promise<DirectoryChanges>;

  /** Adds a cell without slots; the first gets them all. False: there is one of this name. */
  addCell(cell: Pick<Cell, 'name' | 'url'>): Promise<boolean>;
  /** False: there is no such cell. */
  changeCell(name: string, change: { readonly url?: string; readonly state?: CellState }): Promise<boolean>;
  /** Removes a cell to which nothing leads. Returns what does: then it stays. */
  removeCell(name: string): Promise<readonly string[]>;
  /**
   * A cell is lost for good, with all slots and owners that lead to it. Moves and handovers from it or to it go where they can end without it,
   * and tenants whose home it was get the one with the newest copy. null: there is no such cell, or it is lost already.
   */
  loseCell(name: string): Promise<readonly NewHome[] | null>;
  /**
   * Whoever was in a lost cell begins anew: its slots go to others, and its exceptions are none any more. Returns what is still on its way from
   * it: then nothing was changed.
   */
  leaveBehind(name: string, given: readonly PlannedHandover[]): Promise<number>;

  /**
   * Asks for owners to be moved, from where each of them is. From then on an owner is an exception, so that what becomes of its slot does
   * not touch it. Those that are being moved, or are there, are left out. Returns how many will be moved.
   */
  askMoves(moves: readonly AskedMove[]): Promise<number>;
  /**
   * Claims moves that are due and that nobody carries: each has a higher attempt then. Whatever lasts longer than `CLAIM_MOST_MS` was
   * written by a clock that was ahead, and is over.
   */
  takeMoves(claim: WorkClaim): Promise<readonly OwnerMove[]>;
  /** Writes how far a move is. False: somebody else carries it. */
  keepMove(move: OwnerMove, leasedUntil: Millis): Promise<boolean>;
  /** The owner is at the destination: the directory names it, and the move is gone. False: somebody else carries it. */
  switchOwner(move: OwnerMove): Promise<boolean>;
  /** There is no such owner any more: the move is gone, and nothing says where the owner is. False: somebody else carries it. */
  dropMove(move: OwnerMove): Promise<boolean>;
  /**
   * A cell said that it does not have these owners: if they lead to it they are nowhere, and begin where their slot is. null: all whom an exception
   * leads there. `seen` is the epoch of before it was asked: whoever was placed later is left out, as are those on their way, and slots that
   * change hands. Returns how many there were.
   */
  vacate(cell: string, keys: readonly string[] | null, seen: number): Promise<number>;
  /** Moves that are not over, and those that were given up; the oldest first. */
  moves(limit: number): Promise<Moves>;

  /** Asks for slots to change hands; those of which the source has none any more, or which already do, are left out. */
  askHandovers(handovers: readonly AskedHandover[]): Promise<number>;
  /** As takeMoves. */
  takeHandovers(claim: WorkClaim): Promise<readonly Handover[]>;
  keepHandover(handover: Handover, leasedUntil: Millis): Promise<boolean>;
  endHandover(handover: Handover): Promise<boolean>;
  handovers(): Promise<readonly Handover[]>;
  /** What is to be told to a cell of its slots. */
  slotsOf(cell: string): Promise<SlotsOfCell>;
  /** The slots are the destination's; the owners that the source has in them stay there until they are moved, which is asked for. */
  switchSlots(handover: Handover, owners: readonly MovableOwner[]): Promise<boolean>;
  /** How many moves from a cell, of owners of these slots, are not over. */
  unmovedOf(run: SlotRun, source: string): Promise<number>;

  /** Raises the epoch of what a tenant has in common: its copies are made anew. */
  raiseTenant(tenant: TenantId): Promise<TenantPlace>;
  /**
   * Somebody begins to change what a tenant has in common, in its home; that is over by `endChange`, or at `until`. null: the home is on its way
   * to another cell, and nothing may be changed.
   */
  beginChange(tenant: TenantId, change: TenantChange, now: Millis): Promise<TenantPlace | null>;
  endChange(tenant: TenantId, id: string): Promise<TenantPlace>;
  /** No change begins until then, unless the home is switched before. Returns how many that began before are not over. */
  holdHome(tenant: TenantId, how: { readonly until: Millis; readonly now: Millis }): Promise<number>;
  /** The tenant has another home, and may be changed again. false: what was held until then is not held any more, or by somebody else. */
  switchHome(
    tenant: TenantId,
    how: { readonly to: string; readonly heldUntil: Millis; readonly now: Millis },
  ): Promise<boolean>;
  tenants(): Promise<readonly TenantPlace[]>;
  /** What each cell has of a tenant. */
  copiesOf(tenant: TenantId): Promise<readonly KeptCopy[]>;
  keepCopy(tenant: TenantId, copy: KeptCopy): Promise<void>;

  /**
   * What each cell may use of a tenant's day, at most. As long as none was given a share, the first cell has all of it. Of lost cells those are left
   * out whose lease is over.
   */
  sharesOf(tenant: TenantId, now: Millis): Promise<readonly KeptShare[]>;
  /** What a cell may be told: not more than what no other has. From now on it counts as having that, or what it had if that is more. null: there is no such cell. */
  grantShare(tenant: TenantId, asked: AskedShare, now: Millis): Promise<KeptShare | null>;
  /** A cell has heard what it was granted, and has that. Changes nothing if it was granted something else since. */
  settleShare(tenant: TenantId, share: KeptShare): Promise<void>;
  close(): Promise<void>;
}

export interface MovableOwner extends PlacedOwner {
  /** For its move, if there is to be one. */
  readonly moveId: string;
}

export interface AskedMove extends MovableOwner {
  readonly destination: string;
}

export interface AskedHandover extends PlannedHandover {
  readonly id: string;
}

/** A change of what a tenant has in common. */
export interface TenantChange {
  readonly id: string;
  /** When it is over, whatever became of whoever made it. */
  readonly until: Millis;
}

/** A tenant whose home was lost. */
export interface NewHome {
  readonly tenant: TenantId;
  readonly home: string;
  /** Its copy may be older than what was last changed. */
  readonly isBehind: boolean;
}

export interface WorkClaim {
  readonly now: Millis;
  readonly leaseMs: number;
  readonly limit: number;
}

export interface Moves {
  readonly counts: Readonly<Record<OwnerMoveState, number>>;
  readonly oldest: readonly OwnerMove[];
}

/** The copy of what a tenant has in common that a cell confirmed. */
export interface KeptCopy {
  readonly cell: string;
  readonly epoch: number;
}

/** What a cell says of its share of a tenant's day. */
export interface ShareOfCell {
  readonly epoch: number;
  /** What it may use now. */
  readonly part: number;
  readonly until: Millis | null;
  /** Of the whole, on `day` (UTC). */
  readonly used: number;
  readonly day: number;
  /** It is about to run out. */
  readonly wants: boolean;
}

export interface ToldShare extends Pick<ShareOfCell, 'epoch' | 'part' | 'day'> {
  readonly until: Millis;
  /** What other cells have used on this day, as far as is known. */
  readonly elsewhere: number;
  /** There is no more to be had on this day. */
  readonly isLast: boolean;
}

/** The cells, as whoever divides shares reaches them. Throws if a cell does not answer. */
export interface ShareCells {
  read(cell: string, tenant: TenantId): Promise<ShareOfCell>;
  /** Returns what it has now: what it was told and what it had used until then, or what it was told later. */
  tell(cell: string, tenant: TenantId, told: ToldShare): Promise<ShareOfCell>;
}

interface SlotsOfCell {
  readonly epoch: number;
  readonly closed: readonly SlotRun[];
}

/** The cells, as whoever moves owners reaches them. What a cell answers is an outcome; whatever else happens is 'failed'. */
export interface CellPeers {
  /** Takes the owner's lines over, hidden; work of the owner is kept back meanwhile. */
  copy(move: OwnerMove): Promise<MoveOutcome>;
  depart(move: OwnerMove): Promise<MoveOutcome>;
  finish(move: OwnerMove): Promise<MoveOutcome>;
  throwAway(move: OwnerMove): Promise<MoveOutcome>;
  /** Asks the source of a move whose destination is lost whether the owner is still there, and makes earlier requests to depart void. */
  recall(move: OwnerMove): Promise<MoveOutcome>;
  /** Tells a cell its slots. Throws if the cell does not take them. */
  tellSlots(cell: string, slots: SlotsOfCell): Promise<void>;
  /** Tells a cell that one is lost: itself, another, or one of which the owners begin anew. Answers with how many had moved there. Throws if it does not hear it. */
  tellLoss(cell: string, loss: { readonly lost: string; readonly anew: boolean }): Promise<number>;
  /** All owners that a cell has in slots. Throws if it does not answer. */
  ownersIn(cell: string, run: SlotRun): Promise<readonly PlacedOwner[]>;
}
