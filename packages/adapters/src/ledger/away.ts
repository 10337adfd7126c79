import type { Appended, ClosedSlots, Departure, Destination, LaneId, Millis, Owner, TenantId } from '@slowwave/engine';
import { GIVEN_UP_MS, ownerBitsOfLane, ownerKeyOf, spaceIn } from '@slowwave/engine/storing';
import { sha256 } from './rows/columns.ts';
import { all, allAs, first, type Given, insert, run, type Script } from './script.ts';

export interface OwnedBy {
  readonly tenant: TenantId;
  readonly owner: Owner;
}

/** What becomes of a batch. In a group with others it is an answer, where it would be an error. */
export type AppendedOrAway = Appended | { readonly kind: 'away'; readonly to: Destination };

/** By which an owner that is away is known. */
export const awayKeyOf = (of: OwnedBy): string => ownerKeyOf({ hash: sha256 }, of);

/** What decides whether an owner may get a lane here. */
export interface Entry {
  readonly key: string;
  readonly slot: number;
}

/** An owner that is taken over, and a copy in a shadow space, are always let in. */
export const ARRIVES: Entry = { key: '', slot: -1 };

export const entryOf = (of: OwnedBy, newId: LaneId): Entry =>
  spaceIn(of.tenant) === null ? { key: awayKeyOf(of), slot: ownerBitsOfLane(newId) } : ARRIVES;

/** The condition that an owner may get a lane: it is not away, and no other cell takes new owners of its slot. */
export const mayEnter = (key: string, slot: string): string => `
  NOT EXISTS (SELECT 1 FROM away a WHERE a.key = ${key})
  AND NOT EXISTS (SELECT 1 FROM closed_slots s WHERE s.first_slot <= ${slot} AND s.last_slot >= ${slot})`;

/** Where an owner is that may not get a lane here; null: it may. */
export function* elsewhere(of: OwnedBy, newId: LaneId): Script<Destination | null> {
  const { slot } = entryOf(of, newId);
  const away = yield* awayOf(of);
  if (away !== null) return away.to;
  return yield* takenElsewhere(slot);
}

/** Where new owners of a slot go; null: they are taken here. */
export function* takenElsewhere(slot: number): Script<Destination | null> {
  const text = 'SELECT 1 AS found FROM closed_slots WHERE first_slot <= @slot AND last_slot >= @slot';
  if ((yield* first(text, { slot })) === null) return null;
  return { cell: null, epoch: yield* slotsEpoch() };
}

/** The latest epoch of a directory that was heard of; 0: none. */
function* slotsEpoch(): Script<number> {
  const row = yield* first<{ value: string }>("SELECT value FROM meta WHERE key = 'slots_epoch'");
  return Number(row?.value ?? 0);
}

export function* closedSlots(): Script<ClosedSlots> {
  const closed = yield* all<{ first: number; last: number }>(
    'SELECT first_slot AS first, last_slot AS last FROM closed_slots ORDER BY first_slot',
  );
  return { epoch: yield* slotsEpoch(), closed };
}

/** Whoever is making an owner of these slots has done so when this answers: from then on nobody does. */
export function* closeSlots({ epoch, closed }: ClosedSlots): Script<ClosedSlots | null> {
  yield* all('LOCK TABLE lanes IN SHARE MODE');
  if (epoch < (yield* slotsEpoch())) return null;
  yield* run('DELETE FROM closed_slots');
  yield* insert(
    'closed_slots',
    closed.map(({ first, last }) => ({ first_slot: first, last_slot: last })),
  );
  yield* run(NOTE_EPOCH, { epoch: String(epoch) });
  return yield* closedSlots();
}

const NOTE_EPOCH = `
  INSERT INTO meta (key, value) VALUES ('slots_epoch', @epoch) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** The cell takes no new owners, and no turn, study or night begins of those that it has. */
export function* giveUp(now: Millis): Script<void> {
  yield* all('LOCK TABLE lanes IN SHARE MODE');
  yield* run("INSERT INTO meta (key, value) VALUES ('given_up', @at) ON CONFLICT (key) DO NOTHING", {
    at: String(now),
  });
  yield* run('DELETE FROM closed_slots');
  yield* insert('closed_slots', [{ first_slot: 0, last_slot: LAST_SLOT }]);
  yield* run("UPDATE lanes SET leaving_until = @until WHERE id > ''", { until: now + GIVEN_UP_MS });
}

export function* givenUpAt(): Script<Millis | null> {
  const row = yield* first<{ value: string }>("SELECT value FROM meta WHERE key = 'given_up'");
  return row === null ? null : Number(row.value);
}

/** Slots are 16 bits. */
const LAST_SLOT = 0xff_ff;

interface AwayRow extends Pick<Departure, 'key' | 'tenant' | 'until'> {
  readonly cell: string;
  readonly epoch: number;
  readonly departed_at: number;
}

const departureFrom = (row: AwayRow): Departure => ({
  key: row.key,
  tenant: row.tenant,
  to: { cell: row.cell, epoch: row.epoch },
  departedAt: row.departed_at,
  until: row.until,
});

/** Owners that are away, under a condition. */
export const selectAway = (condition: string, given: Given): Script<readonly Departure[]> =>
  allAs(departureFrom, `SELECT a.* FROM away a WHERE ${condition}`, given);

/** Where an owner is; null: here, or nowhere. */
export function* awayOf(of: OwnedBy): Script<Departure | null> {
  return (yield* selectAway('a.key = @key', { key: awayKeyOf(of) }))[0] ?? null;
}

/** The owner is here again, or is no more. */
export function* forgetAway(of: OwnedBy): Script<Departure | null> {
  const departure = yield* awayOf(of);
  if (departure !== null) yield* run('DELETE FROM away WHERE key = @key', { key: departure.key });
  return departure;
}
