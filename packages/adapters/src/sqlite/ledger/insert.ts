import type { Sql, Value } from './sql.ts';

/** Inserts rows of a table one by one, with a statement that is written once. `onConflict` is what follows the row. */
export function insertInto<Name extends string>(table: string, columns: readonly Name[], onConflict = '') {
  const places = columns.map(() => '?').join(', ');
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places}) ${onConflict}`;
  return (sql: Sql, row: Readonly<Record<Name, Value>>): void => {
    sql.run(
      text,
      columns.map((column) => row[column]),
    );
  };
}
