import { EngineError, type IndexMarker, type IndexPoint } from '@slowwave/engine';
import { checkVector } from '../../vectors/check-vector.ts';
import type { Params, Sql } from '../ledger/sql.ts';
import { markerOf, ownerKey, requireSpace, SLOTS, setMeta, spaceText } from './format.ts';
import type { IndexSpace, WriterMethods } from './protocol.ts';

/** Everything that changes the index, each call one transaction. */
export function indexWriter(sql: Sql, space: IndexSpace): WriterMethods {
  const transaction = sql.db.transaction((change: () => void) => change());
  return {
    upsert: (points) => {
      for (const point of points) checkVector(point.vector, space);
      transaction.immediate(() => {
        requireSpace(sql, space);
        writePoints(sql, points);
      });
    },
    stamp: (marker) => transaction.immediate(() => stamp(sql, marker)),
    clear: () => transaction.immediate(() => clear(sql, space)),
  };
}

interface OwnerState {
  readonly number: number;
  readonly changes: number;
  points: number;
}

/** Writes the points that are not older than what is there; one new change of every owner it touched. */
function writePoints(sql: Sql, points: readonly IndexPoint[]): void {
  const touched = new Map<string, OwnerState>();
  for (const point of points) {
    const key = JSON.stringify(ownerKey(point));
    const owner = touched.get(key) ?? ownerStateOf(sql, point);
    touched.set(key, owner);
    writePoint(sql, owner, point);
  }
  for (const { number, changes, points: count } of touched.values()) {
    const values = { number, changes: changes + 1, count };
    sql.run('UPDATE owners SET changes = @changes, points = @count WHERE number = @number', values);
  }
}

function ownerStateOf(sql: Sql, point: IndexPoint): OwnerState {
  const key = ownerKey(point);
  sql.run(
    'INSERT INTO owners (tenant, kind, id, changes, points) VALUES (@tenant, @kind, @id, 0, 0) ON CONFLICT DO NOTHING',
    key,
  );
  const row = sql.get<OwnerState>(
    'SELECT number, changes, points FROM owners WHERE tenant = @tenant AND kind = @kind AND id = @id',
    key,
  );
  if (row === null) throw new Error(`the owner of ${point.memoryId} was written and is not there`);
  return row;
}

function writePoint(sql: Sql, owner: OwnerState, point: IndexPoint): void {
  const known = sql.get<{ row: number; revision: number }>(
    'SELECT row, revision FROM points WHERE owner = @owner AND memory_id = @memoryId AND version = @version',
    { owner: owner.number, memoryId: point.memoryId, version: point.version },
  );
  if (known !== null && known.revision > point.revision) return;
  const row = known?.row ?? owner.number * SLOTS + owner.points;
  if (known === null) owner.points += 1;
  sql.run(WRITE, { ...columnsOf(point), row, owner: owner.number, change: owner.changes + 1 });
}

const WRITE = `
INSERT OR REPLACE INTO points (
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

function stamp(sql: Sql, marker: IndexMarker): void {
  const before = markerOf(sql);
  const taken = before !== null && before.ledgerId !== marker.ledgerId;
  if (taken && sql.get('SELECT 1 FROM points LIMIT 1') !== null) {
    throw new EngineError(
      `expected an empty index to stamp, got ${sql.db.name} with points of ledger ${before.ledgerId}; clear it first`,
      { code: 'index_unavailable', retryable: false },
    );
  }
  setMeta(sql, 'marker', JSON.stringify(marker));
}

/** From now on the index is of this process's space. Numbers of owners are never given again. */
function clear(sql: Sql, space: IndexSpace): void {
  for (const table of ['points', 'owners', 'meta']) sql.run(`DELETE FROM ${table}`);
  setMeta(sql, 'space', spaceText(space));
}
