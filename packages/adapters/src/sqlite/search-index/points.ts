import type { IndexPoint } from '@slowwave/engine';
import type { Params, Sql } from '../ledger/sql.ts';
import { ownerKey, type PointTables, SLOTS } from './format.ts';

interface Place {
  readonly sql: Sql;
  readonly tables: PointTables;
}

interface OwnerState {
  readonly number: number;
  readonly changes: number;
  points: number;
}

/** Writes the points that are not older than what is there; one new change of every owner it touched. */
export function writePoints(sql: Sql, tables: PointTables, points: readonly IndexPoint[]): void {
  const touched = new Map<string, OwnerState>();
  for (const point of points) {
    const key = JSON.stringify(ownerKey(point));
    const owner = touched.get(key) ?? ownerStateOf(sql, tables, point);
    touched.set(key, owner);
    writePoint({ sql, tables }, owner, point);
  }
  for (const { number, changes, points: count } of touched.values()) {
    const values = { number, changes: changes + 1, count };
    sql.run(`UPDATE ${tables.owners} SET changes = @changes, points = @count WHERE number = @number`, values);
  }
}

function ownerStateOf(sql: Sql, { owners }: PointTables, point: IndexPoint): OwnerState {
  const key = ownerKey(point);
  sql.run(
    `INSERT INTO ${owners} (tenant, kind, id, changes, points) VALUES (@tenant, @kind, @id, 0, 0) ON CONFLICT DO NOTHING`,
    key,
  );
  const row = sql.get<OwnerState>(
    `SELECT number, changes, points FROM ${owners} WHERE tenant = @tenant AND kind = @kind AND id = @id`,
    key,
  );
  if (row === null) throw new Error(`the owner of ${point.memoryId} was written and is not there`);
  return row;
}

function writePoint({ sql, tables }: Place, owner: OwnerState, point: IndexPoint): void {
  const known = sql.get<{ row: number; revision: number }>(
    `SELECT row, revision FROM ${tables.points} WHERE owner = @owner AND memory_id = @memoryId AND version = @version`,
    { owner: owner.number, memoryId: point.memoryId, version: point.version },
  );
  if (known !== null && known.revision > point.revision) return;
  const row = known?.row ?? owner.number * SLOTS + owner.points;
  if (known === null) owner.points += 1;
  sql.run(writeTo(tables), { ...columnsOf(point), row, owner: owner.number, change: owner.changes + 1 });
}

const writeTo = ({ points }: PointTables): string => `
INSERT OR REPLACE INTO ${points} (
  row, owner, change, memory_id, version, revision, live, said_at, said_seq, valid_from, invalid_at, expires_at,
  deleted_at, deleted_seq, scope, terms, payload, vector
) VALUES (
  @row, @owner, @change, @memoryId, @version, @revision, @live, @saidAt, @saidSeq, @validFrom, @invalidAt, @expiresAt,
  @deletedAt, @deletedSeq, @scope, @terms, @payload, @vector
)`;

function columnsOf(point: IndexPoint): Params {
  const { vector, terms, ...shown } = point;
  return {
    memoryId: point.memoryId,
    version: point.version,
    revision: point.revision,
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
    payload: JSON.stringify(shown),
    vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength),
  };
}
