import type { LaneId, Log, StoredLedger, Tools } from '@slowwave/engine';
import { ownerBitsOf } from '@slowwave/engine/storing';
import type { Pool } from 'pg';
import { postgresDialect } from '../../filter-sql/postgres.ts';
import type { OwnedBy } from '../../ledger/away.ts';
import { postedFrom } from '../../ledger/batches.ts';
import type { Filtering } from '../../ledger/filtered.ts';
import { aroundAtOnce } from '../../ledger/graph/graph-store.ts';
import { ownerOfBatch } from '../../ledger/lanes.ts';
import { proving, storesOf } from '../../ledger/stores.ts';
import { openPool, placeOf } from '../pool.ts';
import { accessOf } from './access.ts';
import { appendGroup, type Known } from './append.ts';
import { appendGroups } from './append-groups.ts';
import { compactDatabase } from './compact.ts';
import { asLedgerError, ofConnection } from './errors.ts';
import { ledgerIdOf, migrate, SCHEMA } from './migrate.ts';
import { COLUMN_TYPES } from './text.ts';

export interface PostgresLedgerOptions {
  /** postgres://user:password@host:5432/database. The tables live in a schema of their own, made if missing. */
  readonly url: string;
  /** Most at once. */
  readonly connections?: number;
  readonly tools: Tools;
  readonly log: Log;
}

/** Where nobody says how many: transactions take milliseconds. */
const CONNECTIONS_MAX = 10;

export interface PostgresLedger extends StoredLedger {
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
  const pool = openPool({ url, schema: SCHEMA, max: connections, log, types: COLUMN_TYPES });
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
