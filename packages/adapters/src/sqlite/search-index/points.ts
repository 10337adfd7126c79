import type { IndexLane, IndexPoint, Withdrawal } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { keptPart } from '../../shown-point.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { headOf, recordOf } from './record.ts';
import { keptRecords, shrunk } from './stored-record.ts';
import { BLOCK_SLOTS, blockOf, isThere, type Place, type PointTables, SLOTS, TABLES, WITHDRAWN } from './tables.ts';

/** Writes the points that are not older than what is there. */
export const writePoints = (place: Place, points: readonly IndexPoint[]): void => change(place, points, sayingOf);

/** Leaves of these points nothing but that they are gone, and since which revision. */
export const withdrawPoints = (place: Place, withdrawals: readonly Withdrawal[]): void =>
  change(place, withdrawals, () => NOTHING);

interface OwnerState {
  readonly number: number;
  readonly changes: number;
  slots: number;
  points: number;
  /** Rows of blocks that were touched, with the slots of what was withdrawn from each. */
  readonly blocks: Map<number, Set<number>>;
}

/** What a row says of its point, beside where it is. */
interface Saying {
  readonly live: number;
  readonly payload: string;
  /** null: nothing is left of it. */
  record(slot: number): Buffer | null;
}

/** Writes what is not older than what is there; one new change of every owner it touched. */
function change<T extends Withdrawal>(place: Place, given: readonly T[], saying: (one: T) => Saying): void {
  const { sql, tables } = place;
  const touched = new Map<string, OwnerState>();
  for (const one of given) {
    const key = JSON.stringify(ownerKey(one));
    const owner = touched.get(key) ?? ownerStateOf(place, one);
    touched.set(key, owner);
    writeRow(place, owner, { at: one, says: saying(one) });
  }
  for (const { number, changes, slots, points, blocks } of touched.values()) {
    const values = { number, slots, points, changes: changes + 1 };
    const set = 'SET changes = @changes, slots = @slots, points = @points';
    sql.run(`UPDATE ${tables.owners} ${set} WHERE number = @number`, values);
    for (const [first, withdrawn] of blocks) keepBlock(place, first, withdrawn);
  }
}

function ownerStateOf({ sql, tables: { owners } }: Place, point: Withdrawal): OwnerState {
  const key = ownerKey(point);
  sql.run(
    `INSERT INTO ${owners} (tenant, kind, id, lane, shelf, changes, slots, points)
      VALUES (@tenant, @kind, @id, @lane, @shelf, 0, 0, 0) ON CONFLICT DO NOTHING`,
    key,
  );
  const select = `SELECT number, changes, slots, points FROM ${owners} WHERE ${OWNER_NAMED}`;
  const row = sql.get<Omit<OwnerState, 'blocks'>>(select, key);
  if (row === null) throw new Error(`the owner of ${point.memoryId} was written and is not there`);
  return { ...row, blocks: new Map() };
}

interface KnownRow {
  readonly row: number;
  readonly revision: number;
  readonly live: number;
}

function writeRow({ sql, tables }: Place, owner: OwnerState, { at, says }: { at: Withdrawal; says: Saying }): void {
  const { memoryId, version, revision } = at;
  const known = sql.get<KnownRow>(
    `SELECT row, revision, live FROM ${tables.points} WHERE owner = @owner AND memory_id = @memoryId AND version = @version`,
    { owner: owner.number, memoryId, version },
  );
  if (known !== null && known.revision > revision) return;
  // What was withdrawn at this revision was read before it was: it does not come back.
  if (known?.live === WITHDRAWN && known.revision === revision && says.live !== WITHDRAWN) return;
  const row = known?.row ?? owner.number * SLOTS + owner.slots;
  const slot = row % SLOTS;
  if (known === null) owner.slots += 1;
  owner.points += counted(says.live) - counted(known?.live ?? WITHDRAWN);
  const withdrawn = owner.blocks.get(blockOf(row)) ?? new Set();
  owner.blocks.set(blockOf(row), withdrawn);
  const place = { row, owner: owner.number, change: owner.changes + 1, memoryId, version, revision };
  sql.run(writePoint(tables), { ...place, live: says.live, payload: says.payload });
  const record = says.record(slot);
  if (record === null) {
    sql.run(`DELETE FROM ${tables.loose} WHERE row = @row`, { row });
    if (known !== null) withdrawn.add(slot);
    return;
  }
  withdrawn.delete(slot);
  sql.run(`INSERT OR REPLACE INTO ${tables.loose} (row, record) VALUES (@row, @record)`, { row, record });
}

const counted = (live: number): number => (live === WITHDRAWN ? 0 : 1);

const writePoint = ({ points }: PointTables): string => `
INSERT OR REPLACE INTO ${points} (row, owner, change, memory_id, version, revision, live, payload)
VALUES (@row, @owner, @change, @memoryId, @version, @revision, @live, @payload)`;

const NOTHING: Saying = { live: WITHDRAWN, payload: '{}', record: () => null };

const sayingOf = (point: IndexPoint): Saying => ({
  live: point.live ? 1 : 0,
  payload: keptPart(point),
  record: (slot) => shrunk(recordOf(headOf(point, slot), point.vector)),
});

/**
 * Loose points of a block at which it is written anew. Whoever reads an owner that is not in memory reads loose points
 * one by one, ten microseconds each; writing a block costs ten for each point that is in it.
 */
const LOOSE_MAX = 32;

/** Writes a block anew where too much of it has changed, or something was withdrawn from it. */
function keepBlock({ sql, tables }: Place, first: number, withdrawn: ReadonlySet<number>): void {
  const range = { first, last: first + BLOCK_SLOTS - 1 };
  const within = `FROM ${tables.loose} WHERE row BETWEEN @first AND @last`;
  const loose = sql.get<{ count: number }>(`SELECT count(*) AS count ${within}`, range)?.count ?? 0;
  if (loose < LOOSE_MAX && withdrawn.size === 0) return;
  const block = sql.get<{ records: Buffer }>(`SELECT records FROM ${tables.blocks} WHERE row = @first`, { first });
  if (block === null && loose < LOOSE_MAX) return;
  const records = new Map(keptRecords(block?.records ?? Buffer.alloc(0)).map(({ slot, bytes }) => [slot, bytes]));
  for (const slot of withdrawn) records.delete(slot);
  const rows = sql.all<{ row: number; record: Buffer }>(`SELECT row, record ${within}`, range);
  for (const { row, record } of rows) records.set(row % SLOTS, record);
  const inOrder = [...records].sort(([one], [other]) => one - other).map(([, record]) => record);
  sql.run(`INSERT OR REPLACE INTO ${tables.blocks} (row, records) VALUES (@first, @records)`, {
    first,
    records: Buffer.concat(inOrder),
  });
  sql.run(`DELETE ${within}`, range);
}

/**
 * Deletes a lane's points, whatever shelf they are on. They lie under numbers of the lane's own: what its owner has in another
 * lane is not touched, and whoever has read the lane knows it by a number that is never given again.
 */
export function forgetLane({ sql, tables }: Place, of: IndexLane): number {
  if (!TABLES.every((table) => isThere(sql, tables[table]))) return 0;
  return SHELVES.reduce((gone, shelf) => {
    const owner = sql.get<{ number: number }>(`DELETE FROM ${tables.owners} WHERE ${OWNER_NAMED} RETURNING number`, {
      ...ownerKey({ ...of, shelf }),
    });
    if (owner === null) return gone;
    const range = { first: owner.number * SLOTS, last: (owner.number + 1) * SLOTS - 1 };
    for (const table of [tables.loose, tables.blocks]) sql.run(`DELETE FROM ${table} WHERE ${OF_OWNER}`, range);
    return gone + sql.run(`DELETE FROM ${tables.points} WHERE ${OF_OWNER}`, range);
  }, 0);
}

const OF_OWNER = 'row BETWEEN @first AND @last';
