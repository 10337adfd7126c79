import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { floatsOf, recordOf } from './record.ts';
import { type Segment, segmentOf } from './stored-point.ts';
import { BLOCK_SLOTS, SLOTS, WITHDRAWN } from './tables.ts';

interface OwnerCache {
  /** The owner's points as the current snapshot has them; null: there are none. Call it inside a transaction. */
  tableOf(of: Owned): OwnerTable | null;
  drop(of: Owned): void;
}

type Owned = Pick<IndexQuery, 'tenant' | 'owner' | 'lane' | 'shelf'>;

/**
 * Owners of which it is remembered that they were asked about. Who comes once among thousands is not kept: its bytes would
 * push out those of others, and be thrown away when they are old, for which the thread would stand still.
 */
const ASKED_MAX = 256;

/**
 * Keeps owners from their second question on, those that were asked about last, up to so many bytes. Before a table is
 * used its count of changes is compared with the file's, so that the writes of other threads and processes are seen.
 */
export function ownerCache(sql: Sql, { bytes }: { bytes: number }): OwnerCache {
  const tables = new Map<string, OwnerTable>(); // least recently used first
  const asked = new Set<string>(); // the same
  let total = 0;
  let schema: number | null = null;

  // An index that was built anew has taken over: its owners have numbers of their own.
  const forgetReplaced = (): void => {
    const current = sql.get<{ schema_version: number }>(SCHEMA_VERSION)?.schema_version ?? null;
    if (current !== schema) for (const name of [...tables.keys()]) forget(name);
    schema = current;
  };
  const forget = (name: string): void => {
    const table = tables.get(name);
    if (table !== undefined) total -= bytesOf(table);
    tables.delete(name);
  };
  const wasAsked = (name: string): boolean => {
    const before = asked.delete(name);
    asked.add(name);
    for (const oldest of asked) if (asked.size > ASKED_MAX) asked.delete(oldest);
    return before;
  };
  const keep = (name: string, table: OwnerTable): void => {
    if (!wasAsked(name)) return;
    tables.set(name, table);
    total += bytesOf(table);
    for (const oldest of tables.keys()) {
      if (total <= bytes) return;
      forget(oldest);
    }
  };

  return {
    drop: (of) => forget(nameOf(of)),
    tableOf: (of) => {
      forgetReplaced();
      const name = nameOf(of);
      const owner = sql.get<OwnerRow>(SELECT_OWNER, ownerKey(of));
      const known = tables.get(name) ?? null;
      forget(name);
      if (owner === null) return null;
      const fits = known?.owner.number === owner.number;
      const table = fits && known.owner.changes === owner.changes ? known : tableOf(sql, owner, fits ? known : null);
      keep(name, table);
      return table;
    },
  };
}

const nameOf = (of: Owned): string => JSON.stringify(ownerKey(of));

const SELECT_OWNER = `SELECT number, changes, slots FROM owners WHERE ${OWNER_NAMED}`;

const SCHEMA_VERSION = 'SELECT schema_version FROM pragma_schema_version';

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
/** And for each point in it. */
const POINT_BYTES = 48;

const bytesOf = ({ segments }: OwnerTable): number =>
  segments.reduce((sum, { bytes, points }) => sum + bytes.length + SEGMENT_BYTES + points.length * POINT_BYTES, 0);

/** The owner as the file has it now; what is known of it already is read no more. */
function tableOf(sql: Sql, owner: OwnerRow, known: OwnerTable | null): OwnerTable {
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

/** Points that were written since take the places of older ones, which are left out where they were. */
function withChanges(segments: readonly Segment[], changed: readonly ChangedRow[]): readonly Segment[] {
  if (changed.length === 0) return segments;
  const slots = new Set(changed.map(({ row }) => row % SLOTS));
  const kept = segments.map(({ bytes, points }) => ({ bytes, points: points.filter(({ slot }) => !slots.has(slot)) }));
  const there = changed.filter(({ live }) => live !== WITHDRAWN);
  if (there.length === 0) return kept;
  const records = there.map(({ head, vector }) => recordOf(head, floatsOf(vector)));
  return [...kept, segmentOf(Buffer.concat(records))];
}
