import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { bytesOf, catchUp, EMPTY_TABLE, type OwnerRow, type OwnerTable } from './owner-table.ts';

export interface OwnerCache {
  /** The owner's points as the current snapshot has them. Call it inside a transaction. */
  tableOf(of: Owned): OwnerTable;
  drop(of: Owned): void;
}

type Owned = Pick<IndexQuery, 'tenant' | 'owner' | 'shelf'>;

/** An owner's points as they were under its number: a number stands for one set of slots, for ever. */
interface Kept {
  readonly number: number;
  readonly table: OwnerTable;
}

/**
 * Keeps the owners that were asked about last, up to so many bytes, but always the last one. Before a table is used its
 * count of changes is compared with the file's, so that the writes of other threads and processes are seen.
 */
export function ownerCache(sql: Sql, { dimensions, bytes }: { dimensions: number; bytes: number }): OwnerCache {
  const tables = new Map<string, Kept>(); // least recently used first
  let total = 0;
  let schema: unknown = null;

  // An index that was built anew has taken over: its owners have numbers of their own.
  const forgetReplaced = (): void => {
    const current = sql.db.pragma('schema_version', { simple: true });
    if (current !== schema) for (const name of [...tables.keys()]) forget(name);
    schema = current;
  };
  const forget = (name: string): void => {
    total -= bytesOf(tables.get(name)?.table ?? EMPTY_TABLE);
    tables.delete(name);
  };
  const keep = (name: string, kept: Kept): void => {
    tables.set(name, kept);
    total += bytesOf(kept.table);
    for (const oldest of tables.keys()) {
      if (total <= bytes || oldest === name) return;
      forget(oldest);
    }
  };

  return {
    drop: (of) => forget(nameOf(of)),
    tableOf: (of) => {
      forgetReplaced();
      const name = nameOf(of);
      const row = sql.get<OwnerRow>(SELECT_OWNER, ownerKey(of));
      const kept = tables.get(name);
      const known = kept !== undefined && kept.number === row?.number ? kept.table : EMPTY_TABLE;
      if (row === null) {
        forget(name);
        return EMPTY_TABLE;
      }
      const current = known.changes === row.changes ? known : catchUp(sql, known, { owner: row, dimensions });
      forget(name);
      keep(name, { number: row.number, table: current });
      return current;
    },
  };
}

const nameOf = (of: Owned): string => JSON.stringify(ownerKey(of));

const SELECT_OWNER = `SELECT number, changes, points FROM owners WHERE ${OWNER_NAMED}`;
