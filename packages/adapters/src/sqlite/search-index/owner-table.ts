import { compareIds, type KeywordTable, keywordTable, lengthOf, type Sighted } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { SLOTS, WITHDRAWN } from './format.ts';

/** One point of an owner, ready to be compared. */
interface TablePoint extends Sighted {
  readonly row: number;
  readonly slot: number;
  readonly memoryId: string;
  readonly version: number;
  readonly terms: readonly string[];
  readonly contextTerms: readonly string[];
  /** The length of its vector. */
  readonly length: number;
}

/** All points of one owner in memory. Kept up to date in place: only one change after another is read. */
export interface OwnerTable {
  /** The owner's count of changes up to which this was read. */
  readonly changes: number;
  /** In the order of memory id and version: of equal scores the earlier position wins. */
  readonly points: readonly TablePoint[];
  /** A withdrawn point leaves its slot empty. */
  readonly bySlot: (TablePoint | null)[];
  /** The vector of slot n begins at n × dimensions. */
  readonly vectors: Float32Array<ArrayBuffer>;
  /** Of the texts alone, and of what they came from, too. */
  readonly keywords: KeywordTable;
  readonly wide: KeywordTable;
}

export interface OwnerRow {
  readonly number: number;
  readonly changes: number;
  readonly points: number;
}

export const EMPTY_TABLE: OwnerTable = {
  changes: 0,
  points: [],
  bySlot: [],
  vectors: new Float32Array(0),
  keywords: keywordTable([]),
  wide: keywordTable([]),
};

/** What a point takes in memory beside its vector, about, in bytes: objects, strings and postings. */
const POINT_BYTES = 2_000;

export const bytesOf = (table: OwnerTable): number => table.vectors.byteLength + table.points.length * POINT_BYTES;

/** The table with everything read that was written since. */
export function catchUp(sql: Sql, table: OwnerTable, to: { owner: OwnerRow; dimensions: number }): OwnerTable {
  const { owner, dimensions } = to;
  const bySlot: (TablePoint | null)[] = table === EMPTY_TABLE ? [] : table.bySlot;
  const vectors = withRoom(table.vectors, owner.points * dimensions);
  const bytes = new Uint8Array(vectors.buffer);
  const changed = sql.db.prepare<[number, number], PointRow>(CHANGED).iterate(owner.number, table.changes);
  for (const row of changed) {
    const slot = row.row % SLOTS;
    if (row.live === WITHDRAWN) {
      bySlot[slot] = null;
      continue;
    }
    bytes.set(row.vector, slot * dimensions * Float32Array.BYTES_PER_ELEMENT);
    const vector = vectors.subarray(slot * dimensions, (slot + 1) * dimensions);
    bySlot[slot] = pointOf(row, lengthOf(vector));
  }
  const points = bySlot.filter((point) => point !== null).sort(compareIds);
  const keywords = keywordTable(points.map((point) => point.terms));
  const wide = points.every(({ contextTerms }) => contextTerms.length === 0)
    ? keywords
    : keywordTable(points.map((point) => [...point.terms, ...point.contextTerms]));
  return { changes: owner.changes, points, bySlot, vectors, keywords, wide };
}

interface PointRow {
  readonly row: number;
  readonly memory_id: string;
  readonly version: number;
  readonly live: number;
  readonly said_at: number;
  readonly said_seq: number;
  readonly valid_from: number;
  readonly invalid_at: number | null;
  readonly expires_at: number | null;
  readonly deleted_at: number | null;
  readonly deleted_seq: number | null;
  readonly scope: string;
  readonly terms: string;
  readonly context_terms: string;
  readonly vector: Uint8Array;
}

const CHANGED = `
SELECT row, memory_id, version, live, said_at, said_seq, valid_from, invalid_at, expires_at, deleted_at, deleted_seq,
  scope, terms, context_terms, vector
FROM points WHERE owner = ? AND change > ?`;

/** Room for twice as much when it has to grow, so that a growing owner is not copied with every write. */
function withRoom(vectors: Float32Array<ArrayBuffer>, needed: number): Float32Array<ArrayBuffer> {
  if (vectors.length >= needed) return vectors;
  const larger = new Float32Array(Math.max(needed, vectors.length * 2));
  larger.set(vectors);
  return larger;
}

function pointOf(row: PointRow, length: number): TablePoint {
  return {
    row: row.row,
    slot: row.row % SLOTS,
    memoryId: row.memory_id,
    version: row.version,
    live: row.live === 1,
    saidAt: { at: row.said_at, seq: row.said_seq },
    validFrom: row.valid_from,
    invalidAt: row.invalid_at,
    expiresAt: row.expires_at,
    deletedAt: row.deleted_at === null ? null : { at: row.deleted_at, seq: row.deleted_seq ?? 0 },
    scope: JSON.parse(row.scope) as TablePoint['scope'],
    terms: JSON.parse(row.terms) as string[],
    contextTerms: JSON.parse(row.context_terms) as string[],
    length,
  };
}
