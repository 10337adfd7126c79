import { type IndexPoint, shownPart, type Withdrawal } from '@slowwave/engine';
import type { Params, Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey, type PointTables, SLOTS, WITHDRAWN } from './format.ts';

interface Place {
  readonly sql: Sql;
  readonly tables: PointTables;
}

interface OwnerState {
  readonly number: number;
  readonly changes: number;
  points: number;
}

/** Writes the points that are not older than what is there. */
export const writePoints = (sql: Sql, tables: PointTables, points: readonly IndexPoint[]): void =>
  change({ sql, tables }, points, columnsOf);

/** Leaves of these points nothing but that they are gone, since which revision, and of which lane they were. */
export const withdrawPoints = (sql: Sql, tables: PointTables, withdrawals: readonly Withdrawal[]): void =>
  change({ sql, tables }, withdrawals, ({ lane }) => ({ ...EMPTIED, payload: JSON.stringify({ lane }) }));

/** Writes what is not older than what is there; one new change of every owner it touched. */
function change<T extends Withdrawal>({ sql, tables }: Place, given: readonly T[], saying: (one: T) => Params): void {
  const touched = new Map<string, OwnerState>();
  for (const one of given) {
    const key = JSON.stringify(ownerKey(one));
    const owner = touched.get(key) ?? ownerStateOf(sql, tables, one);
    touched.set(key, owner);
    writeRow({ sql, tables }, owner, { at: one, says: saying(one) });
  }
  for (const { number, changes, points: count } of touched.values()) {
    const values = { number, changes: changes + 1, count };
    sql.run(`UPDATE ${tables.owners} SET changes = @changes, points = @count WHERE number = @number`, values);
  }
}

function ownerStateOf(sql: Sql, { owners }: PointTables, point: Withdrawal): OwnerState {
  const key = ownerKey(point);
  sql.run(
    `INSERT INTO ${owners} (tenant, kind, id, shelf, changes, points) VALUES (@tenant, @kind, @id, @shelf, 0, 0)
      ON CONFLICT DO NOTHING`,
    key,
  );
  const row = sql.get<OwnerState>(`SELECT number, changes, points FROM ${owners} WHERE ${OWNER_NAMED}`, key);
  if (row === null) throw new Error(`the owner of ${point.memoryId} was written and is not there`);
  return row;
}

function writeRow({ sql, tables }: Place, owner: OwnerState, point: { at: Withdrawal; says: Params }): void {
  const { memoryId, version, revision } = point.at;
  const known = sql.get<{ row: number; revision: number; live: number }>(
    `SELECT row, revision, live FROM ${tables.points} WHERE owner = @owner AND memory_id = @memoryId AND version = @version`,
    { owner: owner.number, memoryId, version },
  );
  if (known !== null && known.revision > revision) return;
  // What was withdrawn at this revision was read before it was: it does not come back.
  if (known?.live === WITHDRAWN && known.revision === revision && point.says.live !== WITHDRAWN) return;
  const row = known?.row ?? owner.number * SLOTS + owner.points;
  if (known === null) owner.points += 1;
  const place = { row, owner: owner.number, change: owner.changes + 1, memoryId, version, revision };
  sql.run(writeTo(tables), { ...point.says, ...place });
}

const writeTo = ({ points }: PointTables): string => `
INSERT OR REPLACE INTO ${points} (
  row, owner, change, memory_id, version, revision, live, said_at, said_seq, valid_from, invalid_at, expires_at,
  deleted_at, deleted_seq, scope, terms, context_terms, payload, vector
) VALUES (
  @row, @owner, @change, @memoryId, @version, @revision, @live, @saidAt, @saidSeq, @validFrom, @invalidAt, @expiresAt,
  @deletedAt, @deletedSeq, @scope, @terms, @contextTerms, @payload, @vector
)`;

const EMPTIED: Params = {
  live: WITHDRAWN,
  saidAt: 0,
  saidSeq: 0,
  validFrom: 0,
  invalidAt: null,
  expiresAt: null,
  deletedAt: null,
  deletedSeq: null,
  scope: '{}',
  terms: '[]',
  contextTerms: '[]',
  vector: Buffer.alloc(0),
};

function columnsOf(point: IndexPoint): Params {
  const { vector, terms, contextTerms } = point;
  return {
    live: point.live ? 1 : 0,
    saidAt: point.saidAt.at,
    saidSeq: point.saidAt.seq,
    validFrom: point.validFrom,
    invalidAt: point.invalidAt,
    expiresAt: point.expiresAt,
    deletedAt: point.deletedAt?.at ?? null,
    deletedSeq: point.deletedAt?.seq ?? null,
    scope: JSON.stringify(point.scope),
    terms: JSON.stringify(terms),
    contextTerms: JSON.stringify(contextTerms),
    payload: JSON.stringify(shownPart(point)),
    vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
  };
}
