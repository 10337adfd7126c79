import type { Sql } from '../ledger/sql.ts';
import { floatsOf } from './floats.ts';
import { recordOf, WORD } from './record.ts';
import { type Segment, segmentOf, supersede, wordAt } from './segment.ts';
import { BLOCK_SLOTS, SLOTS, WITHDRAWN } from './tables.ts';

/** All points of one owner in memory, as they were after a count of changes. */
export interface OwnerTable {
  readonly owner: OwnerRow;
  /** Blocks, and what was written since in small ones. */
  readonly segments: readonly Segment[];
}

/** An owner's points as they were under its number: a number stands for one set of slots, for ever. */
export interface OwnerRow {
  readonly number: number;
  readonly changes: number;
  readonly slots: number;
}

/** Small segments at which the owner is read anew, as blocks. */
const SMALL_MAX = 64;

/** What a table takes in memory beside its bytes, about, for each segment. */
const SEGMENT_BYTES = 1_000;
/** And for each record in it: where it begins. */
const RECORD_BYTES = 8;

export const bytesOf = ({ segments }: OwnerTable): number =>
  segments.reduce((sum, { bytes, records }) => sum + bytes.length + SEGMENT_BYTES + records.length * RECORD_BYTES, 0);

/** The owner as the file has it now; what is known of it already is read no more. */
export function tableOf(sql: Sql, owner: OwnerRow, known: OwnerTable | null): OwnerTable {
  const small = known === null ? 0 : known.segments.length - Math.ceil(known.owner.slots / BLOCK_SLOTS);
  if (known === null || small > SMALL_MAX) return read(sql, owner);
  const changed = sql.all<ChangedRow>(CHANGED, { number: owner.number, since: known.owner.changes });
  return { owner, segments: withChanges(known.segments, changed) };
}

function read(sql: Sql, owner: OwnerRow): OwnerTable {
  const range = { first: owner.number * SLOTS, last: (owner.number + 1) * SLOTS - 1 };
  const blocks = sql.all<{ records: Buffer }>(BLOCKS, range).map(({ records }) => segmentOf(records));
  return { owner, segments: withChanges(blocks, sql.all<ChangedRow>(LOOSE, range)) };
}

interface ChangedRow {
  readonly row: number;
  readonly live: number;
  readonly head: Buffer;
  readonly vector: Buffer;
}

const BLOCKS = 'SELECT records FROM blocks WHERE row BETWEEN @first AND @last ORDER BY row';
const POINTS = 'SELECT row, live, head, vector FROM points JOIN details USING (row)';
const LOOSE = `${POINTS} WHERE loose = 1 AND row BETWEEN @first AND @last`;
const CHANGED = `${POINTS} WHERE owner = @number AND change > @since`;

/** New records take the places of older ones, which are marked where they are. */
function withChanges(segments: readonly Segment[], changed: readonly ChangedRow[]): readonly Segment[] {
  if (changed.length === 0) return segments;
  const slots = new Set(changed.map(({ row }) => row % SLOTS));
  for (const segment of segments) {
    for (const record of segment.records) {
      if (slots.has(wordAt(segment, record, WORD.slot))) supersede(segment, record);
    }
  }
  const there = changed.filter(({ live }) => live !== WITHDRAWN);
  if (there.length === 0) return segments;
  const records = there.map(({ head, vector }) => recordOf(head, floatsOf(vector)));
  return [...segments, segmentOf(Buffer.concat(records))];
}
