import type { LaneId, Log, StoredLedger, Test, Tools } from '@slowwave/engine';
import { ownerBitsOf, sameFolded } from '@slowwave/engine/storing';
import type { Pool } from 'pg';
import type { OwnedBy } from '../../ledger/away.ts';
import { postedFrom } from '../../ledger/batches.ts';
import { type Bind, type Dialect, SIGNS, type Source } from '../../ledger/filter-sql.ts';
import type { Filtering } from '../../ledger/filtered.ts';
import { aroundAtOnce } from '../../ledger/graph/graph-store.ts';
import { ownerOfBatch } from '../../ledger/lanes.ts';
import { proving, storesOf } from '../../ledger/stores.ts';
import { openPool, placeOf } from '../pool.ts';
import { accessOf, compactDatabase } from './access.ts';
import { appendGroup, type Known } from './append.ts';
import { appendGroups } from './append-groups.ts';
import { COLUMN_TYPES } from './asking.ts';
import { asLedgerError, ofConnection } from './errors.ts';
import { ledgerIdOf, migrate, SCHEMA } from './migrate.ts';

interface PostgresLedgerOptions {
  /** postgres://user:password@host:5432/database. The tables live in a schema of their own, made if missing. */
  readonly url: string;
  /** Most at once. */
  readonly connections?: number;
  readonly tools: Tools;
  readonly log: Log;
}

/** Where nobody says how many: transactions take milliseconds. */
const CONNECTIONS_MAX = 10;

/**
 * Rows are found by their keys, whatever is in the parameters. Left to itself the server plans each statement five times on each
 * connection, and some of them again with every run.
 */
const PLANNED_ONCE = { plan_cache_mode: 'force_generic_plan' };

interface PostgresLedger extends StoredLedger {
  /** How many appends shared how many commits of this process so far. */
  committed(): Promise<{ readonly commits: number; readonly calls: number }>;
}

/** The ledger in a PostgreSQL database, shared by any number of processes. */
export async function openPostgresLedger({
  url,
  connections = CONNECTIONS_MAX,
  tools,
  log,
}: PostgresLedgerOptions): Promise<PostgresLedger> {
  const place = placeOf(url);
  const pool = openPool({ url, schema: SCHEMA, max: connections, log, types: COLUMN_TYPES, settings: PLANNED_ONCE });
  try {
    const id = await prepare(pool, { newLedgerId: tools.id('led'), log });
    return ledgerOf({ id, pool, tools, access: accessOf(pool, place) });
  } catch (error) {
    await pool.end();
    throw asLedgerError(ofConnection(error), place);
  }
}

/** Migrates the database and says which ledger it is. */
async function prepare(pool: Pool, given: { newLedgerId: string; log: Log }): Promise<string> {
  const client = await pool.connect();
  try {
    await migrate(client, given);
    return await ledgerIdOf(client);
  } finally {
    client.release();
  }
}

/** The server tests them. */
const FILTERING: Filtering = { dialect: postgresDialect, testsAtOnce: null };

interface Opened {
  readonly id: string;
  readonly pool: Pool;
  readonly tools: Tools;
  readonly access: ReturnType<typeof accessOf>;
}

function ledgerOf({ id, pool, tools, access }: Opened): PostgresLedger {
  const newLaneId = (of: OwnedBy): LaneId => tools.id('lane', ownerBitsOf(tools, of)) as LaneId;
  let committed = { commits: 0, calls: 0 };
  const known: Known = { lanes: new Set(), scopes: new Map() };
  const groups = appendGroups(async (group) => {
    const appended = await access.own.write((sql) => appendGroup(sql, group, known));
    committed = { commits: committed.commits + 1, calls: committed.calls + group.length };
    return appended;
  });
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await groups.close();
    await pool.end();
  };
  return {
    id,
    ...storesOf(access, {
      append: (batch, policy) =>
        groups.append({ posted: postedFrom(batch), policy, newLaneId: newLaneId(ownerOfBatch(batch)) }),
      around: aroundAtOnce,
      compact: () => compactDatabase(access.own),
      filtering: FILTERING,
      newLaneId,
    }),
    check: () => proving(access).writable(tools.now()),
    committed: async () => committed,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Metadata is of type jsonb. */
function postgresDialect(source: Source): Dialect {
  return {
    source,
    contains,
    isText,
    // An arrow with a text goes into objects alone.
    metadata: (keys, test, bind) =>
      holds(`(${[source.metadata, ...keys.map((key) => `${bind(key)}::text`)].join(' -> ')})`, test, bind),
  };
}

type Contains = Extract<Test, { kind: 'contains' }>;

function contains(column: string, { text, folded }: Contains, bind: Bind): string {
  return folded ? `${plain(column)} ~ ${bind(anyCase(text))}` : `strpos(${plain(column)}, ${bind(text)}) > 0`;
}

function isText(column: string, { text, folded }: Contains, bind: Bind): string {
  return folded ? `${plain(column)} ~ ${bind(`^${anyCase(text)}$`)}` : `${column} = ${bind(text)}`;
}

/**
 * A text with what stands for what the server cannot store (asking.ts) as one character, so that nothing is
 * found in the code, and so that texts are in the order of their code points.
 */
const plain = (column: string): string =>
  `replace(replace(regexp_replace(${column}, '\\u001ad[89a-f][0-9a-f]{2}', U&'\\D7FF', 'g'), ` +
  `U&'\\001a0000', U&'\\0001'), U&'\\001a001a', U&'\\001a') COLLATE "C"`;

/** The folded text as a regular expression for every way to write it: what the server folds depends on its locale. */
const anyCase = (text: string): string =>
  Array.from(text, (char) => {
    const same = sameFolded(char);
    if (same.length > 1) return `[${same.join('')}]`;
    return /[!-/:-@[-`{-~]/.test(char) ? `\\${char}` : char;
  }).join('');

/** Of a value, or of any element of a list. */
function holds(value: string, test: Test, bind: Bind): string {
  if (test.kind === 'present') return `jsonb_typeof(${value}) <> 'null'`;
  if (test.kind === 'equals')
    return `${value} @> ANY (${bind(test.values.map((one) => JSON.stringify(one)))}::jsonb[])`;
  const elements = `SELECT 1 FROM jsonb_array_elements(${value}) AS e (value) WHERE ${ofElement(test, bind)}`;
  return `CASE jsonb_typeof(${value}) WHEN 'array' THEN EXISTS (${elements}) ELSE ${ofScalar(value, test, bind)} END`;
}

type ElementTest = Exclude<Test, { kind: 'present' | 'equals' }>;

function ofElement(test: ElementTest, bind: Bind): string {
  if (test.kind !== 'contains') return ofScalar('e.value', test, bind);
  return `(jsonb_typeof(e.value) = 'string' AND ${isText(textOf('e.value'), test, bind)})`;
}

function ofScalar(value: string, test: ElementTest, bind: Bind): string {
  if (test.kind === 'contains') return `(${isOf(value, 'string')} AND ${contains(textOf(value), test, bind)})`;
  const { by, to } = test;
  if (typeof to === 'number') return `(${isOf(value, 'number')} AND ${value} ${SIGNS[by]} ${bind(String(to))}::jsonb)`;
  return `(${isOf(value, 'string')} AND ${plain(textOf(value))} ${SIGNS[by]} ${bind(to)})`;
}

const isOf = (value: string, type: 'string' | 'number'): string => `jsonb_typeof(${value}) = '${type}'`;
const textOf = (value: string): string => `(${value} #>> '{}')`;
