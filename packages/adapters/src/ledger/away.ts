import type { Appended, Departure, Destination, Owner, TenantId } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom } from './rows/columns.ts';
import { allAs, type Given, run, type Script } from './script.ts';

export interface OwnedBy {
  readonly tenant: TenantId;
  readonly owner: Owner;
}

/** What becomes of a batch. In a group with others it is an answer, where it would be an error. */
export type AppendedOrAway = Appended | { readonly kind: 'away'; readonly to: Destination };

interface AwayRow extends OwnerColumns {
  readonly tenant: TenantId;
  readonly kind: Destination['kind'];
  readonly place: string;
  readonly epoch: number;
  readonly departed_at: number;
  readonly until: number | null;
}

const departureFrom = (row: AwayRow): Departure => ({
  tenant: row.tenant,
  owner: ownerFrom(row),
  to: row.kind === 'cold' ? { kind: 'cold', segment: row.place } : { kind: 'cell', cell: row.place, epoch: row.epoch },
  departedAt: row.departed_at,
  until: row.until,
});

/** Owners that are away, under a condition. */
export const selectAway = (condition: string, given: Given): Script<readonly Departure[]> =>
  allAs(departureFrom, `SELECT a.* FROM away a WHERE ${condition}`, given);

const OF_OWNER = 'a.tenant = @tenant AND a.owner_kind = @kind AND a.owner_id = @ownerId';

const givenOf = ({ tenant, owner }: OwnedBy): Given => ({ tenant, kind: owner.kind, ownerId: owner.id });

/** Where an owner is; null: here, or nowhere. */
export function* awayOf(of: OwnedBy): Script<Departure | null> {
  return (yield* selectAway(OF_OWNER, givenOf(of)))[0] ?? null;
}

/** The owner is here again, or is no more. */
export function* forgetAway(of: OwnedBy): Script<Departure | null> {
  const departure = yield* awayOf(of);
  if (departure !== null) {
    const text = 'DELETE FROM away WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId';
    yield* run(text, givenOf(of));
  }
  return departure;
}
