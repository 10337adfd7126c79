import {
  CONTRADICTIONS,
  type Contradiction,
  DEFAULT_TENANT,
  type Ledger,
  ORPHAN_KINDS,
  type OrphanKind,
} from '@slowwave/engine';
import { added, deleted, home, newBatch, newEntity, statementsBy, user } from '@slowwave/engine-testing';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toSqlite } from '../src/ledger/script.ts';
import { systemTools } from '../src/system/system.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';
import { ledgerFile } from './sqlite-ledger-fixture.ts';

/** What breaks a ledger so that one kind of finding is there: rows that are gone, or say something else. */
const BREAKING: Readonly<Record<OrphanKind | Contradiction, string>> = {
  'batch without lane': 'UPDATE batches SET lane = -1',
  'message without batch': "UPDATE unclaimed_messages SET batch_id = 'bat_none'",
  'memory without lane': 'UPDATE memories SET lane = 0',
  'memory without event': 'DELETE FROM events',
  'memory without version': 'DELETE FROM versions',
  'version without memory': 'UPDATE versions SET memory = 0',
  'event without memory': 'UPDATE events SET memory = 0',
  'tombstone without memory': "UPDATE tombstones SET memory_id = 'mem_none'",
  'plan without consolidation':
    "INSERT INTO plans (consolidation_id, round, plan, shown) VALUES ('con_none', 1, decode('', 'hex'), '[]')",
  'outbox entry without memory': "UPDATE outbox SET memory_id = 'mem_none'",
  'lane that miscounts': 'UPDATE lanes SET pending = pending + 1',
  'count that is wrong': "UPDATE counters SET value = value + 1 WHERE name = 'memories'",
  'lane in a wrong state': "UPDATE lanes SET state = 'idle'",
  'batch in no window': "UPDATE batches SET state = 'consolidating', consolidation = -1",
  'batch that never ends':
    "UPDATE batches SET state = 'consolidating', outcome = 'empty', consolidation = -1, projected_revision = 1",
  'statement that counts wrongly': `
    INSERT INTO consolidations (id, tenant, lane, scope, state, batch_ids, attempts, created_at)
    VALUES ('con_undone', 'default', -1, 1, 'undone', '[]', 0, 1);
    UPDATE graph_statements SET consolidation_id = 'con_undone'`,
  'relation that does not follow': 'UPDATE graph_relations SET confirmations = 9',
};

interface Opened {
  /** A ledger with one of everything. */
  open(): Promise<Ledger>;
  /** Changes rows past all that keeps them right. */
  breakIt(statement: string): Promise<void>;
  stop(): Promise<void>;
}

async function onSqlite(): Promise<Opened> {
  const file = await ledgerFile();
  const ledger = await file.open();
  const run = async (statement: string): Promise<void> => {
    const db = new Database(file.path);
    db.pragma('foreign_keys = OFF');
    db.exec(toSqlite(statement));
    db.close();
  };
  return {
    open: async () => {
      for (const table of TABLES) await run(`DELETE FROM ${table}`);
      return filled(ledger);
    },
    breakIt: run,
    stop: file.remove,
  };
}

async function onPostgres(): Promise<Opened> {
  const server = await ledgerServer();
  const ledger = await server.open();
  return {
    open: async () => {
      await server.empty();
      return filled(ledger);
    },
    breakIt: async (statement) => {
      await server.sql(`SET session_replication_role = replica; SET search_path = slowwave; ${statement}`);
    },
    stop: server.stop,
  };
}

const TABLES = [
  'graph_names',
  'graph_relations',
  'graph_statements',
  'graph_entities',
  'consolidations',
  'plans',
  'outbox',
  'tombstones',
  'event_sources',
  'events',
  'versions',
  'memories',
  'messages',
  'unclaimed_messages',
  'batches',
  'scopes',
  'lanes',
];

async function filled(ledger: Ledger): Promise<Ledger> {
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, user('ann'), systemTools.now());
  const one = added(systemTools, home(lane));
  const tombstone = { memoryId: one.memory.id, textHash: 'x', deletedAt: { at: 1, seq: 1 } };
  const now = systemTools.now();
  await ledger.memories.write(DEFAULT_TENANT, { changes: [one], tombstones: [], now });
  const gone = deleted(systemTools, one.memory);
  await ledger.memories.write(DEFAULT_TENANT, { changes: [gone], tombstones: [tombstone], now });
  const { holds } = statementsBy(systemTools);
  const entities = [newEntity('ent_ana'), newEntity('ent_tea')];
  await ledger.graph.write(DEFAULT_TENANT, lane, { entities, statements: [holds('ent_ana likes ent_tea')], now });
  await ledger.batches.append(newBatch(systemTools), { tokens: 1_000, idleMs: 60_000, maxAgeMs: 60_000 });
  return ledger;
}

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
])('a ledger on %s that was damaged', (_name, start) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await start();
  });
  afterAll(() => opened.stop());

  test.each(ORPHAN_KINDS)('finds a %s', async (kind) => {
    const ledger = await opened.open();
    expect(await ledger.audit.orphans(kind)).toEqual({ count: 0, examples: [] });
    await opened.breakIt(BREAKING[kind]);
    const found = await ledger.audit.orphans(kind);
    expect(found.count).toBeGreaterThan(0);
    expect(found.examples.length).toBeGreaterThan(0);
  });

  test.each(CONTRADICTIONS)('finds a %s', async (kind) => {
    const ledger = await opened.open();
    expect(await ledger.audit.contradictions(kind)).toEqual({ count: 0, examples: [] });
    await opened.breakIt(BREAKING[kind]);
    expect((await ledger.audit.contradictions(kind)).count).toBeGreaterThan(0);
  });
});
