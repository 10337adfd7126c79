import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { keptOwners, withChanges } from './kept-owners.ts';
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
 * Keeps owners from their second question on, those that were asked about last, up to so many bytes. Before a table is
 * used its count of changes is compared with the file's, so that the writes of other threads and processes are seen.
 */
export function ownerCache(sql: Sql, { bytes }: { bytes: number }): OwnerCache {
  const kept = keptOwners<OwnerTable>({ bytes });
  let schema: number | null = null;

  // An index that was built anew has taken over: its owners have numbers of their own.
  const forgetReplaced = (): void => {
    const current = sql.get<{ schema_version: number }>(SCHEMA_VERSION)?.schema_version ?? null;
    if (current !== schema) kept.forgetAll();
    schema = current;
  };

  return {
    drop: (of) => kept.forget(nameOf(of)),
    tableOf: (of) => {
      forgetReplaced();
      const name = nameOf(of);
      const owner = sql.get<OwnerRow>(SELECT_OWNER, ownerKey(of));
      const known = kept.get(name);
      kept.forget(name);
      if (owner === null) return null;
      const fits = known?.owner.number === owner.number;
      const table = fits && known.owner.changes === owner.changes ? known : tableOf(sql, owner, fits ? known : null);
      kept.keep(name, table);
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

/** The owner as the file has it now; what is known of it already is read no more. */
function tableOf(sql: Sql, owner: OwnerRow, known: OwnerTable | null): OwnerTable {
  const small = known === null ? 0 : known.segments.length - Math.ceil(known.owner.slots / BLOCK_SLOTS);
  if (known === null || small > SMALL_MAX) return read(sql, owner);
  const changed = sql.all<ChangedRow>(CHANGED, { number: owner.number, since: known.owner.changes });
  return { owner, segments: withRows(known.segments, changed) };
}

function read(sql: Sql, owner: OwnerRow): OwnerTable {
  const range = { first: owner.number * SLOTS, last: (owner.number + 1) * SLOTS - 1 };
  const blocks = sql.all<{ records: Buffer }>(BLOCKS, range).map(({ records }) => segmentOf(records));
  return { owner, segments: withRows(blocks, sql.all<ChangedRow>(LOOSE, range)) };
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

const withRows = (segments: readonly Segment[], rows: readonly ChangedRow[]): readonly Segment[] =>
  withChanges(
    segments,
    rows.map(({ row, live, head, vector }) => ({
      slot: row % SLOTS,
      record: live === WITHDRAWN ? null : recordOf(head, floatsOf(vector)),
    })),
  );
