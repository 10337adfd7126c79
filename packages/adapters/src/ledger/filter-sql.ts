import type { Condition, Field, Filter, Scalar, Test, Under } from '@slowwave/engine';

/** A filter as a condition of SQL: true or false of every row, never unknown. */
export interface SqlFilter {
  readonly condition: string;
  /** By the names the condition has for them. Nothing a caller wrote is ever part of the condition itself. */
  readonly params: Readonly<Record<string, SqlValue>>;
}

type SqlValue = string | number | readonly string[];
/** Makes a parameter of a value, and says what it is called. */
export type Bind = (value: SqlValue) => string;

type Contains = Extract<Test, { kind: 'contains' }>;
type ListName = keyof Under;
type ColumnName = Exclude<Exclude<Field, { name: 'metadata' }>['name'], ListName>;

/** Where the fields are. */
export interface Source {
  /** What a field is, as an expression of SQL. Flags are of the type that TRUE is of, numbers may be compared with fractions. */
  readonly columns: Readonly<Record<ColumnName, string>>;
  /** The ids something was said under: a select of them, to which conditions may be added, and what an id is in it. */
  readonly lists: Readonly<Record<ListName, { readonly rows: string; readonly id: string }>>;
  /** An expression of SQL for it, as JSON. */
  readonly metadata: string;
}

/** What a kind of SQL says in its own way. */
export interface Dialect {
  readonly source: Source;
  /** A text is part of another. */
  contains(column: string, test: Contains, bind: Bind): string;
  /** A text is another one, whatever the case where the test is folded. */
  isText(column: string, test: Contains, bind: Bind): string;
  metadata(keys: readonly string[], test: Test, bind: Bind): string;
}

export function translate(filter: Filter, dialect: Dialect): SqlFilter {
  const params: Record<string, SqlValue> = {};
  const bind: Bind = (value) => {
    const name = `where${Object.keys(params).length}`;
    params[name] = value;
    return `@${name}`;
  };
  return { condition: conditionOf(filter, dialect, bind), params };
}

function conditionOf(filter: Filter, dialect: Dialect, bind: Bind): string {
  switch (filter.kind) {
    case 'all':
      return joined(
        filter.of.map((one) => conditionOf(one, dialect, bind)),
        'AND',
      );
    case 'any':
      return joined(
        filter.of.map((one) => conditionOf(one, dialect, bind)),
        'OR',
      );
    case 'not':
      return `NOT ${conditionOf(filter.of, dialect, bind)}`;
    case 'condition':
      return `coalesce((${testOf(filter, dialect, bind)}), FALSE)`;
  }
}

function joined(conditions: readonly string[], by: 'AND' | 'OR'): string {
  if (conditions.length === 0) return by === 'AND' ? 'TRUE' : 'FALSE';
  return `(${conditions.join(` ${by} `)})`;
}

function testOf({ field, test }: Condition, dialect: Dialect, bind: Bind): string {
  if (field.name === 'metadata') return dialect.metadata(field.keys, test, bind);
  const { columns, lists } = dialect.source;
  if (isList(field.name)) return `EXISTS (${lists[field.name].rows}${ofId(lists[field.name].id, test, bind)})`;
  const column = columns[field.name];
  switch (test.kind) {
    case 'present':
      return `${column} IS NOT NULL`;
    case 'equals':
      return `${column} IN (${test.values.map((value) => literal(value, bind)).join(', ')})`;
    case 'compares':
      return `${column} ${SIGNS[test.by]} ${bind(test.to)}`;
    case 'contains':
      return field.name === 'category' ? dialect.isText(column, test, bind) : dialect.contains(column, test, bind);
  }
}

const isList = (name: ColumnName | ListName): name is ListName =>
  name === 'agentId' || name === 'runId' || name === 'appId';

/** Ids are never compared, and never contain anything: of those that are there any may be equal. */
function ofId(id: string, test: Test, bind: Bind): string {
  if (test.kind === 'present') return '';
  return test.kind === 'equals'
    ? ` AND ${id} IN (${test.values.map((value) => literal(value, bind)).join(', ')})`
    : ' AND FALSE';
}

const literal = (value: Scalar, bind: Bind): string => (typeof value === 'boolean' ? flag(value) : bind(value));

const flag = (value: boolean): string => (value ? 'TRUE' : 'FALSE');

/** How comparisons are written. */
export const SIGNS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;
