import { DAY_MS } from '../../text/dates.ts';
import type { LaneId, Millis, Owner, OwnerBits, TenantId } from '../../words.ts';

/** The cell to which an owner went, with everything. */
export interface Destination {
  /** null: only the directory knows which. */
  readonly cell: string | null;
  /** From which on the directory knows it. */
  readonly epoch: number;
}

/** Who lets an owner go knows where to. */
type NamedDestination = Destination & { readonly cell: string };

/**
 * An owner that departed. Its lane was cut off in the same transaction, as by an erasure, and its rows go like those of an erasure: but
 * nothing says that it was erased, and none of its batches counts as accepted here any more. The note stays, so that nobody who asks
 * here makes a second owner, until an import of the owner has finished or `until` has passed.
 */
export interface Departure {
  /** Stands for the owner (ids.ts), who could be erased there without anybody hearing of it here. */
  readonly key: string;
  readonly tenant: TenantId;
  readonly to: NamedDestination;
  readonly departedAt: Millis;
  readonly until: Millis;
}

export interface NewDeparture {
  /** Of the removal of its rows. */
  readonly id: string;
  readonly to: NamedDestination;
  /** What the owner was when its lines were read. */
  readonly stamp: string;
  /** By which its erasure would be known: what is counted of it under this digest goes. */
  readonly ownerHash: string;
  /** What its ids carry. */
  readonly bits: OwnerBits;
  readonly until: Millis;
  readonly now: Millis;
}

export type Departed =
  | ({ readonly kind: 'departed' } & Departure)
  /** Something was written since the lines were read: they have to be read again. */
  | { readonly kind: 'changed' }
  /** Something has begun that has to be over first; for people. */
  | { readonly kind: 'busy'; readonly waitsFor: readonly string[] }
  /** It departed before, to another place. */
  | ({ readonly kind: 'elsewhere' } & Departure)
  /** There is no such owner. */
  | { readonly kind: 'gone' };

/** Ten years: for good, and a time that every queue can count with. */
export const GIVEN_UP_MS = 10 * 365 * DAY_MS;

/** As long as a request may let an owner leave: LEAVE_MAX_MS of the contracts, which no thread of a store loads. */
const LEAVE_MAX_MS = 10 * 60_000;

/**
 * Until when no work of an owner begins: a lease of minutes, or the years of a cell that was given up. What lies between was written by a
 * clock that was ahead, and keeps nothing back.
 */
export const keptBackUntil = (until: Millis, now: Millis): Millis =>
  until - now > LEAVE_MAX_MS && until - now < GIVEN_UP_MS / 10 ? 0 : until;

/** Owners that leave this ledger for another place, and where they are. */
export interface DepartureStore {
  /**
   * What names the present state of an owner: another text as soon as anything changes that its lines say. null: there is no such owner.
   */
  stamp(tenant: TenantId, owner: Owner): Promise<string | null>;
  /**
   * No turn, study or night of the owner begins until then: a lease, which ends by itself. Appends, writes and searches go on. Answers with
   * what has to be over before the owner can depart, or should be, so that no model is asked twice; for people. null: there is no such owner.
   */
  leave(
    tenant: TenantId,
    owner: Owner,
    how: { readonly until: Millis; readonly now: Millis },
  ): Promise<readonly string[] | null>;
  /**
   * One transaction: if nothing was written since the stamp, the lane is cut off, the removal of its rows is asked for like an erasure, and the
   * owner is away. Repeated with the same destination it changes nothing.
   */
  depart(tenant: TenantId, owner: Owner, departure: NewDeparture): Promise<Departed>;
  /** Where an owner is that is not here: also one that is new, where another cell takes it. null: here, or nowhere. */
  whereIs(tenant: TenantId, owner: Owner, bits: OwnerBits): Promise<Destination | null>;
  /** null: the owner is here, or was never. */
  find(tenant: TenantId, owner: Owner): Promise<Departure | null>;
  /** Whoever is away of a tenant, and has these bits in ids. */
  withBits(tenant: TenantId, bits: OwnerBits): Promise<readonly Departure[]>;
  /** How many owners are away. */
  count(): Promise<number>;
  /** The owner is no more, wherever it was: its note goes. Answers with the note. */
  forget(tenant: TenantId, owner: Owner): Promise<Departure | null>;
  /** Notes whose time has passed go. Returns how many. */
  drop(now: Millis, limit: number): Promise<number>;
  /** All owners that are here, by the ids of their lanes. */
  owners(after: LaneId | null, limit: number): Promise<readonly OwnerHere[]>;
  /** Of all tenants. */
  sizes(): Promise<{ readonly owners: number; readonly memories: number }>;
  slots(): Promise<ClosedSlots>;
  /**
   * From now on these slots, and no others, take no new owners here: who was making one has done so. null: a later epoch was heard of, and
   * nothing changed.
   */
  closeSlots(slots: ClosedSlots): Promise<ClosedSlots | null>;
  /** Owners that went to a cell which is lost begin anew: their notes go. Returns how many. */
  forgetCell(cell: string): Promise<number>;
  /** This cell itself was given up for lost: it takes no new owners and begins no work of those that it has, for good. */
  giveUp(now: Millis): Promise<void>;
  /** Since when; null: it was not. */
  givenUpAt(): Promise<Millis | null>;
}

export interface OwnerHere {
  readonly lane: LaneId;
  readonly tenant: TenantId;
  readonly owner: Owner;
}

/** Slots of which other cells have the new owners, as the directory said at an epoch. */
export interface ClosedSlots {
  readonly epoch: number;
  readonly closed: readonly { readonly first: number; readonly last: number }[];
}

/**
 * Owners that sleep. Nothing was said by or about them for days, so all that travels with an owner (see bundles.ts) is in a segment, an
 * object outside of the ledger. Their lane stays, cut off by the name of the segment, with what hangs on the lane alone: the owner
 * keeps its name, so that nobody can make it a second time.
 *
 * A segment's states:
 *   written   noted before the object is. Left by `cool`, or by `drop`, if the owner has said something meanwhile.
 *   cooling   the owner sleeps; rows that are in the segment go, slice by slice. Left by the last `slice`.
 *   cold      the ledger has the lane alone. Left by `wake`.
 *   waking    lines of the segment are stored again, and nobody sees them yet. Left by `woken`, which shows all of them at once.
 *   dropped   nobody needs the object: it is deleted after a while, and then its row is.
 * Invariants: lanes.cold names a segment that is cooling, cold or waking, and each such segment is named by its lane; rows of a lane
 * are shown only while cold is null; an object without a row was written by nobody that knows this ledger.
 */
export interface ColdStore {
  /** Awake owners of whom nothing was written since then and nothing is left to do, by the ids of their lanes. */
  idle(before: Millis, after: LaneId | null, limit: number): Promise<readonly IdleOwner[]>;
  /** What an owner is like that may be left to sleep; null: it is not, or something is left to do. */
  standing(lane: LaneId): Promise<StandingOwner | null>;
  /** Notes a segment that is about to be written. */
  note(segment: NewSegment, now: Millis): Promise<void>;
  /**
   * The owner sleeps from now on, if nothing was written to it since `stamp` and nothing is left to do. Rows go by `slice`. false:
   * nothing was changed.
   */
  cool(name: string, how: { readonly stamp: string; readonly bytes: number; readonly now: Millis }): Promise<boolean>;
  /** The next rows of one kind go that are in the segment. */
  slice(name: string, limit: number, now: Millis): Promise<{ readonly more: boolean }>;
  /** Begins to store the lines of a segment again, or goes on with it. null: its owner is awake, or was erased. */
  wake(name: string, now: Millis): Promise<{ readonly taken: number; readonly lines: number } | null>;
  /**
   * All lines are stored again: the owner is awake. false: it has been before, or lines are missing. `told`: how many messages of each
   * batch the index has again by now; null: it has nothing, and is told of all.
   */
  woken(name: string, how: { readonly told: readonly BatchPoints[] | null; readonly now: Millis }): Promise<boolean>;
  /**
   * `wake`, all lines and `woken` in one transaction, for an owner with few. not_begun: somebody else has begun, or it is awake or erased.
   * Throws if a line cannot be stored; nothing was changed then.
   */
  restore(
    name: string,
    how: { readonly lines: readonly string[]; readonly told: readonly BatchPoints[] | null; readonly now: Millis },
  ): Promise<'woken' | 'not_begun'>;
  get(name: string): Promise<Segment | null>;
  /** Those whose owners have these bits. */
  ofBits(tenant: TenantId, bits: OwnerBits): Promise<readonly Segment[]>;
  /** Owners that sleep, of a tenant or of all, by the names of their segments. */
  list(tenant: TenantId | null, after: string | null, limit: number): Promise<readonly Segment[]>;
  /** Segments in a state since before then, longest first. */
  since(state: SegmentState, before: Millis, limit: number): Promise<readonly Segment[]>;
  /** All segments of a lane, in every state: an erasure deletes their objects. */
  ofLane(lane: LaneId): Promise<readonly string[]>;
  /** Every segment there is, by name; for who compares them with objects. */
  names(after: string | null, limit: number): Promise<readonly Pick<Segment, 'name' | 'state' | 'tenant'>[]>;
  /** The object of a segment that nobody needs is to be deleted. */
  drop(name: string, now: Millis): Promise<void>;
  /** Its object is deleted. `erasure`: the one that did, which counts it. */
  forget(name: string, erasure: string | null): Promise<void>;
  /** How many owners sleep, and what they take. */
  count(): Promise<ColdCount>;
}

type SegmentState = 'written' | 'cooling' | 'cold' | 'waking' | 'dropped';

export interface BatchPoints {
  readonly id: string;
  readonly points: number;
}

export interface IdleOwner {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly lane: LaneId;
}

export interface StandingOwner extends IdleOwner {
  /** Goes up with everything that is written to the owner. */
  readonly stamp: string;
  readonly memories: number;
  readonly oldest: Oldest;
}

/** When the oldest thing of each kind is from that retention counts the age of; null: there is none. */
export interface Oldest {
  /** Messages that have their content. */
  readonly messages: Millis | null;
  /** Consolidations that have their plans. */
  readonly plans: Millis | null;
  /** Former versions. */
  readonly history: Millis | null;
  readonly forgotten: Millis | null;
  /** Memories that were not changed since. */
  readonly memories: Millis | null;
}

export interface NewSegment extends Pick<StandingOwner, 'tenant' | 'lane' | 'memories' | 'oldest'> {
  /** Names the object too, and no user. */
  readonly name: string;
  readonly bits: OwnerBits;
  readonly lines: number;
  /** The checksum of the last line. */
  readonly lastSum: string;
}

export interface Segment extends NewSegment {
  readonly owner: Owner;
  readonly bytes: number;
  readonly state: SegmentState;
  readonly since: Millis;
}

interface ColdCount {
  readonly owners: number;
  readonly bytes: number;
  /** Owners whose rows are on their way, out of the ledger or back. */
  readonly moving: number;
}
