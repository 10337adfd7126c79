import { randomBytes } from 'node:crypto';
import type { Ledger, StoredLedger } from '@slowwave/engine';
import { hashOf, type OpenedLedger, recordingLog } from '@slowwave/engine-testing';
import { startPostgres, type TestPostgres } from '@slowwave/testkit';
import { Client } from 'pg';
import { openPostgresLedger } from '../src/postgres/index.ts';
import { systemTools } from '../src/system/system.ts';

export interface LedgerServer {
  readonly server: TestPostgres;
  readonly log: ReturnType<typeof recordingLog>;
  /** Of the database that the ledgers share. */
  readonly url: string;
  /** One more ledger on the same database, as another process has it; closed with the server at the latest. */
  open(): Promise<StoredLedger>;
  /** Deletes every row but the ledger's id. */
  empty(): Promise<void>;
  /** Another database, without a ledger. */
  newDatabase(): Promise<string>;
  /** Runs statements beside the ledgers. */
  sql(text: string, url?: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** A server with a database for ledgers. */
export async function ledgerServer(): Promise<LedgerServer> {
  const server = await startPostgres();
  const log = recordingLog();
  const url = await makeDatabase(server.url);
  const opened: Ledger[] = [];
  let emptier: Client | null = null;
  const empty = async (): Promise<void> => {
    // A new connection would first read the catalog, which takes twenty times as long as the rest.
    emptier ??= await connect(url);
    await emptyTables(emptier);
  };
  return {
    server,
    log,
    url,
    open: async () => {
      const ledger = await openPostgresLedger({ url, tools: { ...systemTools, hash: hashOf }, log });
      opened.push(ledger);
      return ledger;
    },
    empty,
    newDatabase: () => makeDatabase(server.url),
    sql: (text, at = url) => run(at, text),
    stop: async () => {
      for (const ledger of opened) await ledger.close();
      await emptier?.end();
      await server.stop();
    },
  };
}

/** One ledger that is emptied for every test. */
export async function emptiedLedger(): Promise<{ open(): Promise<OpenedLedger>; stop(): Promise<void> }> {
  const shared = await ledgerServer();
  const ledger = await shared.open();
  return {
    open: async () => {
      await shared.empty();
      return { ledger, reopen: shared.open, close: async () => {} };
    },
    stop: shared.stop,
  };
}

async function emptyTables(client: Client): Promise<void> {
  const { rows } = await client.query<{ tablename: string }>(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'slowwave' AND tablename <> 'meta'",
  );
  // Faster than TRUNCATE for tables that are next to empty.
  const deletes = rows.map(({ tablename }) => `DELETE FROM slowwave.${tablename};`).join(' ');
  await client.query(`SET session_replication_role = replica; ${deletes}`);
}

/** With rules of a language for comparing, so that a list which relies on plain bytes says so. */
async function makeDatabase(url: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await run(url, `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(url);
  try {
    const result = await client.query(text);
    return result.rows ?? [];
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
