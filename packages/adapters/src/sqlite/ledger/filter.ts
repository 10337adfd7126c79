import type { Scalar, Test } from '@slowwave/engine';
import { fold } from '@slowwave/engine/storing';
import type { Database } from 'better-sqlite3';
import { type Bind, type Dialect, SIGNS, type Source } from '../../ledger/filter-sql.ts';

/** SQLite's own lower() knows no letters beyond ASCII. */
export function addFilterFunctions(db: Database): void {
  db.function('slowwave_fold', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? fold(text) : null,
  );
}

export function sqliteDialect(source: Source): Dialect {
  return {
    source,
    contains,
    isText,
    metadata: (keys, test, bind) => behind(source.metadata, keys, { test, bind }),
  };
}

type Contains = Extract<Test, { kind: 'contains' }>;

const contains = (column: string, { text, folded }: Contains, bind: Bind): string =>
  `instr(${folded ? `slowwave_fold(${column})` : column}, ${bind(text)}) > 0`;

const isText = (column: string, { text, folded }: Contains, bind: Bind): string =>
  `${folded ? `slowwave_fold(${column})` : column} = ${bind(text)}`;

interface Asked {
  readonly test: Test;
  readonly bind: Bind;
}

/** Goes from key to key through objects. Keys are compared, not made part of a path: paths cannot say all keys. */
function behind(metadata: string, keys: readonly string[], { test, bind }: Asked): string {
  const tables = keys.map((_, i) => `json_each(${i === 0 ? metadata : objectOnly(`k${i - 1}`)}) AS k${i}`);
  const path = keys.map((key, i) => `k${i}.key = ${bind(key)}`);
  const last = `k${keys.length - 1}`;
  return `EXISTS (SELECT 1 FROM ${tables.join(', ')} WHERE ${path.join(' AND ')} AND ${holds(last, { test, bind })})`;
}

const objectOnly = (table: string): string => `CASE ${table}.type WHEN 'object' THEN ${table}.value ELSE '{}' END`;
const arrayOnly = (table: string): string => `CASE ${table}.type WHEN 'array' THEN ${table}.value ELSE '[]' END`;

/** Of a value, or of any element of a list. */
function holds(table: string, { test, bind }: Asked): string {
  if (test.kind === 'present') return `${table}.type <> 'null'`;
  const some = `EXISTS (SELECT 1 FROM json_each(${arrayOnly(table)}) AS e WHERE ${ofElement(test, bind)})`;
  return `(${ofScalar(table, test, bind)} OR ${some})`;
}

type ValueTest = Exclude<Test, { kind: 'present' }>;

function ofElement(test: ValueTest, bind: Bind): string {
  return test.kind === 'contains'
    ? `(e.type = 'text' AND ${isText('e.value', test, bind)})`
    : ofScalar('e', test, bind);
}

function ofScalar(table: string, test: ValueTest, bind: Bind): string {
  switch (test.kind) {
    case 'equals':
      return equals(table, test.values, bind);
    case 'compares':
      return `(${typed(table, test.to)} ${SIGNS[test.by]} ${bind(test.to)})`;
    case 'contains':
      return `(${table}.type = 'text' AND ${contains(`${table}.value`, test, bind)})`;
  }
}

function equals(table: string, values: readonly Scalar[], bind: Bind): string {
  const flags = values.filter((value) => typeof value === 'boolean').map((value) => `${table}.type = '${value}'`);
  const texts = values.filter((value) => typeof value === 'string').map(bind);
  const numbers = values.filter((value) => typeof value === 'number').map(bind);
  const conditions = [
    ...flags,
    ...(texts.length === 0 ? [] : [`${typed(table, '')} IN (${texts.join(', ')})`]),
    ...(numbers.length === 0 ? [] : [`${typed(table, 0)} IN (${numbers.join(', ')})`]),
  ];
  return `(${conditions.join(' OR ')})`;
}

/** Whole numbers beyond 2^53 are written with zeros at the end: as such they would be other numbers. */
const typed = (table: string, like: string | number): string =>
  typeof like === 'string'
    ? `${table}.type = 'text' AND ${table}.value`
    : `${table}.type IN ('integer', 'real') AND CAST(${table}.value AS REAL)`;
