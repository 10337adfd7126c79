import type { Sql, Value } from './sql.ts';

/** Inserts rows of a table one by one, with a statement that is written once. */
export function insertInto<Name extends string>(table: string, columns: readonly Name[]) {
  const places = columns.map(() => '?').join(', ');
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`;
  return (sql: Sql, row: Readonly<Record<Name, Value>>): void => {
    sql.run(
      text,
      columns.map((column) => row[column]),
    );
  };
}
