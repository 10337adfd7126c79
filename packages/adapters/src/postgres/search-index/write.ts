import type { IndexLane, IndexPoint, Withdrawal } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { keptPart } from '../../shown-point.ts';
import { headOf, recordOf } from '../../sqlite/search-index/record.ts';
import { shrunk } from '../../sqlite/search-index/stored-record.ts';
import type { Ask } from '../ledger/asking.ts';
import { LostRowError } from '../ledger/errors.ts';
import { askOf, type Params, type Sql } from '../ledger/sql.ts';
import { type IndexSpace, ownerKey, requireSpace, WITHDRAWN } from './schema.ts';

/** Into which edition is written: the one in use, or the one in the making and, once that has taken over, the one in use again. */
export type Target = 'edition' | 'coalesce(next_edition, edition)';

/** Where points go. */
export interface Place {
  readonly target: Target;
  /** Of the index; null: an edition in the making may be of another one. */
  readonly space: IndexSpace | null;
}

/** Writes the points that are not older than what is there. */
export const writePoints = (sql: Sql, place: Place, points: readonly IndexPoint[]): Promise<void> =>
  change(sql, place, { given: points, saying: sayingOf });

/** Leaves of these points nothing but that they are gone, and since which revision. */
export const withdrawPoints = (sql: Sql, place: Place, withdrawals: readonly Withdrawal[]): Promise<void> =>
  change(sql, place, { given: withdrawals, saying: () => NOTHING });

const lockBy = (lock: string): Ask =>
  askOf(`SELECT ${lock}(hashtextextended(current_schema()::text, ${LOCK_SEED}))::text`);
/** Only has to differ from those of other programs. */
const LOCK_SEED = 1_402_718_297;
/** Whoever writes points holds the lock together with others who do; nobody changes meanwhile which edition is in use. */
const WRITING = lockBy('pg_advisory_xact_lock_shared');
/** Whoever does change that holds it alone. */
export const CHANGING_EDITION = lockBy('pg_advisory_xact_lock');

/** What a row says of its point, beside where it is. */
interface Saying {
  readonly live: number;
  readonly payload: string;
  record(slot: number): Uint8Array;
}

interface Change<T extends Withdrawal> {
  readonly given: readonly T[];
  readonly saying: (one: T) => Saying;
}

interface OwnerState {
  readonly number: number;
  readonly tenant: string;
  readonly kind: string;
  readonly id: string;
  readonly lane: string;
  readonly shelf: string;
  readonly changes: number;
  slots: number;
  points: number;
}

/** A point as far as it is known before it is written. */
interface KnownRow {
  readonly owner: number;
  readonly memory_id: string;
  readonly version: number;
  readonly slot: number;
  readonly revision: number;
  readonly live: number;
}

interface WrittenRow extends KnownRow {
  readonly change: number;
  readonly record: Uint8Array;
  readonly payload: string;
}

/**
 * Writes what is not older than what is there; one new change of every owner it touched, which is locked before it is looked at. So
 * the changes of an owner are written one after the other, and whoever sees one sees all before it.
 */
async function change<T extends Withdrawal>(
  sql: Sql,
  { target, space }: Place,
  { given, saying }: Change<T>,
): Promise<void> {
  const { owners, known } = await lockOwners(sql, { target, space }, given);
  const written = new Map<string, WrittenRow>();
  for (const one of given) {
    const owner = owners.get(nameOf(one));
    if (owner === undefined) throw new LostRowError(`the owner of ${one.memoryId} was forgotten meanwhile`);
    const name = rowName(owner.number, one.memoryId, one.version);
    const row = rowFor(owner, { at: one, says: saying(one), known: written.get(name) ?? known.get(name) ?? null });
    if (row !== null) written.set(name, row);
  }
  if (written.size === 0) return;
  const touched = [...owners.values()].map(({ number, changes, slots, points }) => ({
    ...{ number, slots, points },
    changes: changes + 1,
  }));
  await sql.askLast([askOf(WRITE_POINTS, columnsOf([...written.values()])), askOf(WRITE_OWNERS, columnsOf(touched))]);
}

async function lockOwners(sql: Sql, { target, space }: Place, given: readonly Withdrawal[]) {
  const keys = [...new Map(given.map((one) => [nameOf(one), ownerKey(one)])).values()];
  const at = given.map(({ memoryId, version }) => ({ memory_id: memoryId, version }));
  const [, state, , locked, known] = await sql.ask([
    WRITING,
    askOf('SELECT space FROM state'),
    askOf(makeOwners(target), columnsOf(keys)),
    askOf(ownersLocked(target), columnsOf(keys)),
    askOf(knownPoints(target), { ...columnsOf(given.map(ownerKey)), ...columnsOf(at) }),
  ]);
  if (space !== null) requireSpace(state?.rows[0] as { space: string }, space);
  const owners = (locked?.rows ?? []) as readonly OwnerState[];
  const rows = (known?.rows ?? []) as readonly KnownRow[];
  return {
    owners: new Map(owners.map((row) => [JSON.stringify([row.tenant, row.kind, row.id, row.lane, row.shelf]), row])),
    known: new Map(rows.map((row) => [rowName(row.owner, row.memory_id, row.version), row])),
  };
}

function nameOf(point: Withdrawal): string {
  const { tenant, kind, id, lane, shelf } = ownerKey(point);
  return JSON.stringify([tenant, kind, id, lane, shelf]);
}

const rowName = (owner: number, memoryId: string, version: number): string => `${owner}/${version}/${memoryId}`;

interface Writing {
  readonly at: Withdrawal;
  readonly says: Saying;
  readonly known: KnownRow | null;
}

/** null: what is there is newer. */
function rowFor(owner: OwnerState, { at, says, known }: Writing): WrittenRow | null {
  const { memoryId, version, revision } = at;
  if (known !== null && known.revision > revision) return null;
  // What was withdrawn at this revision was read before it was: it does not come back.
  if (known?.live === WITHDRAWN && known.revision === revision && says.live !== WITHDRAWN) return null;
  const slot = known?.slot ?? owner.slots;
  if (known === null) owner.slots += 1;
  owner.points += counted(says.live) - counted(known?.live ?? WITHDRAWN);
  const { live, payload } = says;
  const place = { owner: owner.number, memory_id: memoryId, version, slot, change: owner.changes + 1 };
  return { ...place, revision, live, record: says.record(slot), payload };
}

const counted = (live: number): number => (live === WITHDRAWN ? 0 : 1);

const EMPTY = new Uint8Array();
const NOTHING: Saying = { live: WITHDRAWN, payload: '{}', record: () => EMPTY };

const sayingOf = (point: IndexPoint): Saying => ({
  live: point.live ? 1 : 0,
  payload: keptPart(point),
  record: (slot) => shrunk(recordOf(headOf(point, slot), point.vector)),
});

/** An array of values for each column. */
const columnsOf = (rows: readonly object[]): Params =>
  Object.fromEntries(
    Object.keys(rows[0] ?? {}).map((column) => [column, rows.map((row) => row[column as keyof typeof row])]),
  );

const KEYS = '@tenant::text[], @kind::text[], @id::text[], @lane::text[], @shelf::text[]';
const KEY = 'tenant, kind, id, lane, shelf';
const SAME_KEY = ['tenant', 'kind', 'id', 'lane', 'shelf'].map((column) => `o.${column} = n.${column}`).join(' AND ');
const editionOf = (target: Target): string => `(SELECT ${target} FROM state)`;

/** In one order, so that two who make the same ones wait for each other at most once. */
const makeOwners = (target: Target): string => `
INSERT INTO owners (edition, ${KEY})
SELECT ${editionOf(target)}, n.* FROM unnest(${KEYS}) AS n (${KEY})
WHERE NOT EXISTS (SELECT 1 FROM owners o WHERE o.edition = ${editionOf(target)} AND ${SAME_KEY})
ORDER BY ${KEY}
ON CONFLICT DO NOTHING`;

const ownersLocked = (target: Target): string => `
SELECT o.number, o.tenant, o.kind, o.id, o.lane, o.shelf, o.changes, o.slots, o.points
FROM unnest(${KEYS}) AS n (${KEY}) JOIN owners o ON o.edition = ${editionOf(target)} AND ${SAME_KEY}
ORDER BY o.number
FOR UPDATE OF o`;

const knownPoints = (target: Target): string => `
SELECT p.owner, p.memory_id, p.version, p.slot, p.revision, p.live
FROM unnest(${KEYS}, @memory_id::text[], @version::integer[]) AS n (${KEY}, memory_id, version)
JOIN owners o ON o.edition = ${editionOf(target)} AND ${SAME_KEY}
JOIN points p ON p.owner = o.number AND p.memory_id = n.memory_id AND p.version = n.version`;

const WRITE_POINTS = `
INSERT INTO points (owner, memory_id, version, slot, change, revision, live, record, payload)
SELECT * FROM unnest(@owner::bigint[], @memory_id::text[], @version::integer[], @slot::integer[], @change::bigint[],
  @revision::bigint[], @live::smallint[], @record::bytea[], @payload::jsonb[])
ON CONFLICT (owner, memory_id, version) DO UPDATE SET slot = excluded.slot, change = excluded.change,
  revision = excluded.revision, live = excluded.live, record = excluded.record, payload = excluded.payload`;

const WRITE_OWNERS = `
UPDATE owners o SET changes = n.changes, slots = n.slots, points = n.points
FROM unnest(@number::bigint[], @changes::bigint[], @slots::integer[], @points::integer[]) AS n (number, changes, slots, points)
WHERE o.number = n.number`;

/**
 * Deletes a lane's points, whatever shelf they are on; null: in every edition. They are under numbers of the lane's own: what its
 * owner has in another lane is not touched, and whoever has read the lane knows it by a number that is never given again.
 */
export async function forgetLane(sql: Sql, target: Target | null, of: IndexLane): Promise<number> {
  const { tenant, kind, id, lane } = ownerKey({ ...of, shelf: 'memories' });
  const [, gone] = await sql.ask([WRITING, askOf(forgetOwners(target), { tenant, kind, id, lane, shelves: SHELVES })]);
  const numbers = ((gone?.rows ?? []) as readonly { number: number }[]).map(({ number }) => number);
  if (numbers.length === 0) return 0;
  const [points] = await sql.askLast([askOf('DELETE FROM points WHERE owner = ANY (@numbers::bigint[])', { numbers })]);
  return points?.count ?? 0;
}

const forgetOwners = (target: Target | null): string => `
DELETE FROM owners
WHERE tenant = @tenant AND kind = @kind AND id = @id AND lane = @lane AND shelf = ANY (@shelves::text[])
  ${target === null ? '' : `AND edition = ${editionOf(target)}`}
RETURNING number`;

/** Points thrown away at a time: others write meanwhile. */
const SLICE = 2_000;

/** Throws away every edition but those that the state names, a slice at a time. Several may do it at once. */
export async function throwAwayOthers(write: <T>(change: (sql: Sql) => Promise<T>) => Promise<T>): Promise<void> {
  const slice = async (sql: Sql): Promise<number> => {
    const points = await sql.run(THROW_AWAY_POINTS);
    return points > 0 ? points : await sql.run(THROW_AWAY_OWNERS);
  };
  while ((await write(slice)) > 0);
}

const OTHERS = `
SELECT o.number FROM owners o, state s WHERE o.edition <> s.edition AND o.edition IS DISTINCT FROM s.next_edition`;
const THROW_AWAY_POINTS = `
DELETE FROM points WHERE ctid = ANY (ARRAY(SELECT ctid FROM points WHERE owner IN (${OTHERS}) LIMIT ${SLICE}))`;
const THROW_AWAY_OWNERS = `DELETE FROM owners WHERE number IN (${OTHERS})`;
