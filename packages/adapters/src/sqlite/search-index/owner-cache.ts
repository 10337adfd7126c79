import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { ownerKey } from './format.ts';
import { bytesOf, catchUp, EMPTY_TABLE, type OwnerRow, type OwnerTable } from './owner-table.ts';

export interface OwnerCache {
  /** The owner's points as the current snapshot has them. Call it inside a transaction. */
  tableOf(of: Pick<IndexQuery, 'tenant' | 'owner'>): OwnerTable;
}

/**
 * Keeps the owners that were asked about last, up to so many bytes, but always the last one. Before a table is used its
 * count of changes is compared with the file's, so that the writes of other threads and processes are seen.
 */
export function ownerCache(sql: Sql, { dimensions, bytes }: { dimensions: number; bytes: number }): OwnerCache {
  const tables = new Map<number, OwnerTable>(); // least recently used first
  let total = 0;
  let schema: unknown = null;

  // An index that was built anew has taken over: its owners have numbers of their own.
  const forgetReplaced = (): void => {
    const current = sql.db.pragma('schema_version', { simple: true });
    if (current !== schema) for (const number of [...tables.keys()]) forget(number);
    schema = current;
  };
  const forget = (number: number): void => {
    total -= bytesOf(tables.get(number) ?? EMPTY_TABLE);
    tables.delete(number);
  };
  const keep = (number: number, table: OwnerTable): void => {
    tables.set(number, table);
    total += bytesOf(table);
    for (const oldest of tables.keys()) {
      if (total <= bytes || oldest === number) return;
      forget(oldest);
    }
  };

  return {
    tableOf: (of) => {
      forgetReplaced();
      const row = sql.get<OwnerRow>(
        'SELECT number, changes, points FROM owners WHERE tenant = @tenant AND kind = @kind AND id = @id',
        ownerKey(of),
      );
      if (row === null) return EMPTY_TABLE;
      const known = tables.get(row.number) ?? EMPTY_TABLE;
      const current = known.changes === row.changes ? known : catchUp(sql, known, { owner: row, dimensions });
      forget(row.number);
      keep(row.number, current);
      return current;
    },
  };
}
