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
