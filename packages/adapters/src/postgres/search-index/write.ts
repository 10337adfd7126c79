import type { IndexLane, IndexPoint, Withdrawal } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { type Head, headsIn } from '../../sqlite/search-index/heads.ts';
import {
  inOrder,
  type KeptPoint,
  type PackedRow,
  packRow,
  pointsIn,
} from '../../sqlite/search-index/packed-records.ts';
import type { IndexSpace } from '../../sqlite/search-index/protocol.ts';
import { BLOCK_SLOTS, blockOf, hashOf } from '../../sqlite/search-index/tables.ts';
import {
  isMadeAnew,
  NOTHING,
  type OwnerWriting,
  type Saying,
  sayingOf,
  takeIn,
} from '../../sqlite/search-index/writing.ts';
import type { Ask } from '../ledger/asking.ts';
import { LostRowError } from '../ledger/errors.ts';
import { askOf, type Params, type Sql } from '../ledger/sql.ts';
import { ownerKey, requireSpace } from './schema.ts';

/** Into which edition is written: the one in use, or the one in the making and, once that has taken over, the one in use again. */
type Target = 'edition' | 'coalesce(next_edition, edition)';

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

interface Change<T extends Withdrawal> {
  readonly given: readonly T[];
  readonly saying: (one: T) => Saying;
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
  const { owners, known, loose } = await lockOwners(sql, { target, space }, given);
  for (const one of given) {
    const owner = owners.get(nameOf(one));
    if (owner === undefined) throw new LostRowError(`the owner of ${one.memoryId} was forgotten in the meantime`);
    const name = rowName(owner.number, one);
    const head = known.get(name) ?? null;
    const slot = takeIn(owner, { at: one, says: saying(one), known: head });
    const written = slot === null ? undefined : owner.written.get(blockOf(slot))?.get(slot);
    if (written !== undefined) known.set(name, written.point.head);
  }
  const touched = [...owners.values()].filter(({ written }) => written.size > 0);
  if (touched.length > 0) await keep(sql, touched, loose);
}

type Loose = ReadonlyMap<number, readonly number[]>;

/**
 * Fewer blocks are made anew than in a file, since the one before stays behind until the table is vacuumed: in all, four times as much is
 * written as is kept. With one in six it would be six times.
 */
const LOOSE_ONE_IN = 4;

/** Leaves loose what is written, or makes blocks anew with it. */
async function keep(sql: Sql, owners: readonly OwnerWriting[], loose: Loose): Promise<void> {
  const ofBlocks = owners.flatMap((owner) =>
    [...owner.written].map(([first, written]) => ({ owner, first, written, isAnew: false })),
  );
  for (const one of ofBlocks) {
    const within = (loose.get(one.owner.number) ?? []).filter((slot) => blockOf(slot) === one.first);
    one.isAnew = isMadeAnew(one.written, {
      first: one.first,
      slots: one.owner.slots,
      loose: within,
      looseOneIn: LOOSE_ONE_IN,
    });
  }
  const anew = ofBlocks.filter(({ isAnew }) => isAnew);
  const before = await pointsOfBlocks(
    sql,
    anew.map(({ owner, first }) => ({ owner: owner.number, first })),
  );
  const blocks = anew.map(({ owner, first, written }) => {
    const points = new Map(before.get(`${owner.number}/${first}`) ?? []);
    for (const [slot, { point }] of written) points.set(slot, point);
    return rowOf(owner.number, first, inOrder(points));
  });
  const alone = ofBlocks
    .filter(({ isAnew }) => !isAnew)
    .flatMap(({ owner, written }) => [...written].map(([slot, { point }]) => rowOf(owner.number, slot, [point])));
  const counts = owners.map(({ number, changes, slots, points }) => ({ number, changes: changes + 1, slots, points }));
  await sql.askLast([
    ...(alone.length === 0 ? [] : [askOf(writeRows('loose'), columnsOf(alone))]),
    ...(blocks.length === 0
      ? []
      : [
          askOf(writeRows('blocks'), columnsOf(blocks)),
          askOf(NO_LONGER_LOOSE, columnsOf(blocks.map(({ owner, first }) => ({ owner, first })))),
        ]),
    askOf(WRITE_OWNERS, columnsOf(counts)),
  ]);
}

function rowOf(owner: number, first: number, points: readonly KeptPoint[]) {
  const names = `{${points.map(({ head }) => hashOf(head)).join()}}`;
  return { owner, first, names, ...packRow(points, first) };
}

/** By owner and first slot, the points of blocks as they are now. */
async function pointsOfBlocks(
  sql: Sql,
  blocks: readonly { readonly owner: number; readonly first: number }[],
): Promise<ReadonlyMap<string, ReadonlyMap<number, KeptPoint>>> {
  if (blocks.length === 0) return new Map();
  const answers = await sql.ask([askOf(BLOCKS, columnsOf(blocks)), askOf(LOOSE_IN_BLOCKS, columnsOf(blocks))]);
  const found = new Map<string, Map<number, KeptPoint>>();
  // What is loose is newer than what its block has of it.
  for (const { owner, first, ...row } of answers.flatMap(({ rows }) => rows as readonly PointsRow[])) {
    const name = `${owner}/${blockOf(first)}`;
    const points = found.get(name) ?? new Map<number, KeptPoint>();
    found.set(name, points);
    for (const point of pointsIn(row, first)) points.set(point.head.slot, point);
  }
  return found;
}

async function lockOwners(sql: Sql, { target, space }: Place, given: readonly Withdrawal[]) {
  const keys = [...new Map(given.map((one) => [nameOf(one), ownerKey(one)])).values()];
  const named = { ...columnsOf(given.map(ownerKey)), hash: given.map(hashOf) };
  const [, state, , locked, blocks, loose] = await sql.ask([
    WRITING,
    askOf('SELECT space FROM state'),
    askOf(makeOwners(target), columnsOf(keys)),
    askOf(ownersLocked(target), columnsOf(keys)),
    askOf(namedInBlocks(target), named),
    askOf(looseAndNamed(target), named),
  ]);
  if (space !== null) requireSpace(state?.rows[0] as { space: string }, space);
  const owners = (locked?.rows ?? []) as readonly LockedRow[];
  const known = new Map<string, Head>();
  const ofLoose = (loose?.rows ?? []) as readonly HeadsRow[];
  // What is loose is newer than what its block has of it.
  for (const { owner, first, change, heads } of [...((blocks?.rows ?? []) as readonly HeadsRow[]), ...ofLoose]) {
    for (const head of heads === null ? [] : headsIn(heads, { first, change })) known.set(rowName(owner, head), head);
  }
  const slots = Map.groupBy(ofLoose, ({ owner }) => owner);
  return {
    owners: new Map(
      owners.map(({ number, changes, slots, points, ...row }): [string, OwnerWriting] => [
        JSON.stringify([row.tenant, row.kind, row.id, row.lane, row.shelf]),
        { number, changes, slots, points, written: new Map() },
      ]),
    ),
    known,
    loose: new Map([...slots].map(([owner, rows]) => [owner, rows.map(({ first }) => first)])),
  };
}

interface LockedRow extends Pick<OwnerWriting, 'number' | 'changes' | 'slots' | 'points'> {
  readonly tenant: string;
  readonly kind: string;
  readonly id: string;
  readonly lane: string;
  readonly shelf: string;
}

interface PointsRow extends PackedRow {
  readonly owner: number;
  readonly first: number;
}

type HeadsRow = Pick<PointsRow, 'owner' | 'first' | 'change'> & { readonly heads: Uint8Array | null };

function nameOf(point: Withdrawal): string {
  const { tenant, kind, id, lane, shelf } = ownerKey(point);
  return JSON.stringify([tenant, kind, id, lane, shelf]);
}

const rowName = (owner: number, { memoryId, version }: Pick<Withdrawal, 'memoryId' | 'version'>): string =>
  `${owner}/${version}/${memoryId}`;

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

/** Owners, each with the hashes of the names that are asked for of it. */
const wanted = (target: Target): string => `
SELECT o.number, array_agg(n.hash) AS hashes FROM unnest(${KEYS}, @hash::integer[]) AS n (${KEY}, hash)
JOIN owners o ON o.edition = ${editionOf(target)} AND ${SAME_KEY} GROUP BY o.number`;

/** The blocks in which one of these names may be. */
const namedInBlocks = (target: Target): string => `
SELECT p.owner, p.first, p.change, p.heads
FROM (${wanted(target)}) AS w JOIN blocks p ON p.owner = w.number AND p.names && w.hashes`;

/** All that is loose of these owners, with the heads of what may have one of these names. */
const looseAndNamed = (target: Target): string => `
SELECT p.owner, p.first, p.change, CASE WHEN p.names && w.hashes THEN p.heads END AS heads
FROM (${wanted(target)}) AS w JOIN loose p ON p.owner = w.number`;

const COLUMNS = 'p.owner, p.first, p.change, p.heads, p.shown, p.records';
const OF_BLOCKS = 'FROM unnest(@owner::bigint[], @first::integer[]) AS n (owner, first)';
const IN_BLOCK = `p.owner = n.owner AND p.first BETWEEN n.first AND n.first + ${BLOCK_SLOTS - 1}`;
const BLOCKS = `SELECT ${COLUMNS} ${OF_BLOCKS} JOIN blocks p ON p.owner = n.owner AND p.first = n.first`;
const LOOSE_IN_BLOCKS = `SELECT ${COLUMNS} ${OF_BLOCKS} JOIN loose p ON ${IN_BLOCK}`;
const NO_LONGER_LOOSE = `DELETE FROM loose p USING unnest(@owner::bigint[], @first::integer[]) AS n (owner, first) WHERE ${IN_BLOCK}`;

const writeRows = (table: 'blocks' | 'loose'): string => `
INSERT INTO ${table} (owner, first, names, change, heads, shown, records)
SELECT owner, first, names::integer[], change, heads, shown, records
FROM unnest(@owner::bigint[], @first::integer[], @names::text[], @change::bigint[], @heads::bytea[], @shown::bytea[], @records::bytea[])
  AS n (owner, first, names, change, heads, shown, records)
ON CONFLICT (owner, first) DO UPDATE SET names = excluded.names, change = excluded.change, heads = excluded.heads,
  shown = excluded.shown, records = excluded.records`;

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
  const rows = (gone?.rows ?? []) as readonly Pick<OwnerWriting, 'number' | 'points'>[];
  if (rows.length === 0) return 0;
  const numbers = rows.map(({ number }) => number);
  await sql.askLast(
    ['loose', 'blocks'].map((table) =>
      askOf(`DELETE FROM ${table} WHERE owner = ANY (@numbers::bigint[])`, { numbers }),
    ),
  );
  return rows.reduce((sum, { points }) => sum + points, 0);
}

const forgetOwners = (target: Target | null): string => `
DELETE FROM owners
WHERE tenant = @tenant AND kind = @kind AND id = @id AND lane = @lane AND shelf = ANY (@shelves::text[])
  ${target === null ? '' : `AND edition = ${editionOf(target)}`}
RETURNING number, points`;

/** Rows thrown away at a time: others write meanwhile. */
const SLICE = 200;

/** Throws away every edition but those that the state names, a slice at a time. Several may do it at once. */
export async function throwAwayOthers(write: <T>(change: (sql: Sql) => Promise<T>) => Promise<T>): Promise<void> {
  const slice = async (sql: Sql): Promise<number> => {
    const rows = (await sql.run(throwAway('loose'))) + (await sql.run(throwAway('blocks')));
    return rows > 0 ? rows : await sql.run(THROW_AWAY_OWNERS);
  };
  while ((await write(slice)) > 0);
}

const OTHERS = `
SELECT o.number FROM owners o, state s WHERE o.edition <> s.edition AND o.edition IS DISTINCT FROM s.next_edition`;
const throwAway = (table: 'blocks' | 'loose'): string => `
DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE owner IN (${OTHERS}) LIMIT ${SLICE}))`;
const THROW_AWAY_OWNERS = `DELETE FROM owners WHERE number IN (${OTHERS})`;
