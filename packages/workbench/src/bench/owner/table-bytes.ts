import { join } from 'node:path';
import type { TestPostgres } from '@slowwave/testkit';
import Database from 'better-sqlite3';

export const STORES = ['ledger', 'index'] as const;

/** What a table takes, with its indexes. */
export interface TableBytes {
  readonly store: (typeof STORES)[number];
  readonly table: string;
  readonly bytes: number;
}

/** In the files of a folder. */
export const tablesInFolder = (folder: string): readonly TableBytes[] =>
  STORES.flatMap((store) => tablesInFile(join(folder, `${store}.db`)).map((one) => ({ ...one, store })));

/** By the pages of each table and its indexes; what has room on one page alone by what is on it, as a page is nothing among many. */
function tablesInFile(path: string): readonly Omit<TableBytes, 'store'>[] {
  const file = new Database(path, { readonly: true });
  try {
    const trees =
      'SELECT name, CASE count(*) WHEN 1 THEN sum(payload) ELSE sum(pgsize) END AS bytes FROM dbstat GROUP BY name';
    const sizes = `SELECT s.tbl_name AS "table", sum(t.bytes) AS bytes FROM (${trees}) AS t JOIN sqlite_schema AS s USING (name) GROUP BY 1`;
    return file.prepare<[], Omit<TableBytes, 'store'>>(sizes).all();
  } finally {
    file.close();
  }
}

/** A table of a database. */
export interface DatabaseTable extends TableBytes {
  /** Rows and parts of values that nobody sees any more, of a hundred. */
  readonly dead: number;
}

/** In a database, with what lies beside the tables as too large for their rows. */
export const tablesInDatabase = (postgres: TestPostgres): Promise<readonly DatabaseTable[]> =>
  postgres.select<DatabaseTable>(`
    SELECT CASE n.nspname WHEN 'slowwave' THEN 'ledger' ELSE 'index' END AS store, c.relname AS "table",
      pg_total_relation_size(c.oid) AS bytes,
      (SELECT 100 * coalesce(sum(n_dead_tup) / nullif(sum(n_dead_tup + n_live_tup), 0), 0)
        FROM pg_stat_all_tables WHERE relid IN (c.oid, c.reltoastrelid)) AS dead
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('slowwave', 'slowwave_index') AND c.relkind = 'r'`);

/** Without what they took before anything was in them. */
export const without = <T extends TableBytes>(tables: readonly T[], before: readonly TableBytes[]): readonly T[] =>
  tables.map((one) => ({
    ...one,
    bytes: one.bytes - (before.find(({ store, table }) => store === one.store && table === one.table)?.bytes ?? 0),
  }));
