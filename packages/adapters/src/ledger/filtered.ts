import type {
  Condition,
  Field,
  Filter,
  FilteredStore,
  Memory,
  SaidId,
  Scalar,
  Scope,
  TenantId,
  Test,
  Under,
} from '@slowwave/engine';
import { LIVE_OF_OWNER, ownedBy, UNEXPIRED } from './memories.ts';
import { pageOf, readCursor, type SortKey, where } from './page.ts';
import { loadMemories, NEWEST_FIRST } from './rows/memory.ts';
import { READ_VERSIONS } from './rows/version.ts';
import { type Access, first, once, read, storeOf } from './script.ts';

/** How a kind of ledger tests what a filter says. */
export interface Filtering {
  readonly dialect: (source: Source) => Dialect;
  /** So many conditions are tested without a break; null: nobody waits for the tests but who asked. */
  readonly testsAtOnce: number | null;
}

/** Lists in slices where tests hold others up: an owner may have very much that hardly anything fits of. */
export function filteredStore(access: Access, { dialect, testsAtOnce }: Filtering): FilteredStore {
  const words = dialect(SOURCE);
  const { slice: sliceOf } = scripted(access);
  return {
    list: async (tenant, { scope, where: asked, now }, page) => {
      const filter = translate(asked, words);
      const tests = testsAtOnce === null ? null : Math.ceil(testsAtOnce / conditionsIn(asked));
      const found: Memory[] = [];
      for (let after = readCursor(page.cursor, ['number', 'string']); ; ) {
        const limit = page.limit + 1 - found.length;
        const slice = await sliceOf({ tenant, scope, now, filter, tests, after, limit });
        found.push(...slice.memories);
        after = slice.end;
        if (after === null || found.length > page.limit) return pageOf(found, page.limit, keyOf);
      }
    },
  };
}

const keyOf = ({ createdAt, id }: Memory): SortKey => [createdAt, id];

function conditionsIn(filter: Filter): number {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.reduce((sum, one) => sum + conditionsIn(one), 1);
    case 'not':
      return conditionsIn(filter.of);
    case 'condition':
      return 1;
  }
}

interface ListSlice {
  readonly tenant: TenantId;
  readonly scope: Scope;
  readonly now: number;
  readonly filter: SqlFilter;
  /** How many memories it is tested of at most; null: as many as it takes. */
  readonly tests: number | null;
  readonly after: SortKey | null;
  readonly limit: number;
}

interface Slice {
  readonly memories: readonly Memory[];
  /** Where the next slice begins; null: there is none. */
  readonly end: SortKey | null;
}

const scripted = storeOf<{ slice(of: ListSlice): Promise<Slice> }>('filtered', {
  slice: read(function* (of) {
    const { filter, tests, limit } = of;
    const owned = ownedBy(of.tenant, of.scope);
    const later = of.after === null ? null : '(m.created_at, m.id) < (@afterTime, @afterId)';
    const [afterTime = null, afterId = null] = of.after ?? [];
    const given = { ...owned.given, now: of.now, afterTime, afterId };
    const end = tests === null ? null : yield* first<EndRow>(selectLast(later), { ...given, before: tests - 1 });
    const within = end === null ? null : '(m.created_at, m.id) >= (@endTime, @endId)';
    const memories = yield* loadMemories(
      where([...owned.conditions, UNEXPIRED, later, within, fits(filter)]),
      { ...given, ...filter.params, endTime: end?.created_at ?? null, endId: end?.id ?? null, limit },
      { order: NEWEST_FIRST, ask: once },
    );
    return { memories, end: end === null ? null : [end.created_at, end.id] };
  }),
});

interface EndRow {
  readonly id: string;
  readonly created_at: number;
}

/** The last memory of a slice that is full, whatever the scope leaves of it: no slice takes longer. */
const selectLast = (later: string | null): string => `
  SELECT m.id, m.created_at FROM memories m
  ${where([LIVE_OF_OWNER, later])} ORDER BY ${NEWEST_FIRST('m')} LIMIT 1 OFFSET @before`;

/** Of the newest version of a memory. */
const fits = ({ condition }: SqlFilter): string =>
  `EXISTS (SELECT 1 FROM ${READ_VERSIONS} v WHERE v.memory = m.number AND v.superseded_by IS NULL AND ${condition})`;

const SOURCE: Source = {
  columns: {
    userId: 's.user_id',
    memoryId: 'm.id',
    text: 'v.text',
    category: "(v.details ->> 'category')",
    immutable: "coalesce((v.details ->> 'immutable')::boolean, FALSE)",
    flagged: "coalesce((v.details ->> 'flagged')::boolean, FALSE)",
    trust: "coalesce(v.details ->> 'trust', 'user')",
    confirmations: 'm.confirmations::float8',
    createdAt: 'm.created_at',
    updatedAt: 'm.updated_at',
    saidAt: 'v.said_at',
    validFrom: 'v.valid_from',
    expiresAt: 'm.expires_at',
  },
  lists: { agentId: idsOf('agent'), runId: idsOf('run'), appId: idsOf('app') },
  metadata: "v.details -> 'metadata'",
};

function idsOf(kind: SaidId['kind']) {
  return { rows: `SELECT 1 FROM memory_ids i WHERE i.memory_id = m.id AND i.kind = '${kind}'`, id: 'i.id' };
}

/** A filter as a condition of SQL: true or false of every row, never unknown. */
interface SqlFilter {
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

function translate(filter: Filter, dialect: Dialect): SqlFilter {
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
