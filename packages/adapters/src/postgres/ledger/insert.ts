import type { Params, Sql } from './sql.ts';

type ColumnType = 'text' | 'bigint' | 'boolean' | 'jsonb' | 'bytea';
type Value = string | number | null | Buffer;

export interface Table<Name extends string> {
  readonly name: string;
  readonly columns: Readonly<Record<Name, ColumnType>>;
  /** What follows the rows: ON CONFLICT … */
  readonly onConflict?: string;
}

/** Inserts all rows with one statement, in their order. Returns how many were inserted. */
export async function insertRows<Name extends string>(
  sql: Sql,
  { name, columns, onConflict = '' }: Table<Name>,
  rows: readonly Readonly<Record<Name, Value>>[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const names = Object.keys(columns) as Name[];
  const arrays = names.map((column) => `@${column}::${columns[column]}[]`);
  const text = `INSERT INTO ${name} (${names.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')}) ${onConflict}`;
  const params: Params = Object.fromEntries(names.map((column) => [column, rows.map((row) => row[column])]));
  return sql.run(text, params);
}
