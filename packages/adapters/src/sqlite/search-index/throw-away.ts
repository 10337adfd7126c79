import type { Sql } from '../ledger/sql.ts';
import { DISCARDED, isThere } from './format.ts';

/** Rows thrown away at a time: vectors fill pages of their own, and others write meanwhile. */
const SLICE = 500;

/** A slice at a time, so that others who write wait for milliseconds only. Several may do it at once. */
export function throwAway(sql: Sql, table: string): void {
  const slice = sql.db.transaction(() => {
    if (!isThere(sql, table)) return 0;
    const gone = sql.run(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT ${SLICE})`);
    if (gone === 0) sql.db.exec(`DROP TABLE ${table}`);
    return gone;
  });
  while (slice.immediate() > 0);
}

/** What an older release has left. */
export function throwAwayDiscarded(sql: Sql): void {
  const tables = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '${DISCARDED}*'`;
  for (const { name } of sql.all<{ name: string }>(tables)) throwAway(sql, name);
}
