import { join } from 'node:path';
import { hashOf } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import type { SqliteLedger } from '../src/sqlite/index.ts';
import { ledgerOf, openReader, startReader } from '../src/sqlite/ledger/open.ts';
import { connectToRead } from '../src/sqlite/ledger/sql.ts';
import type { Thread } from '../src/system/system.ts';
import { startThread, systemTools } from '../src/system/system.ts';
import { noting, STATEMENTS, type Statements } from './noted-statements.ts';

const WRITER = new URL('./noted-writer-thread.ts', import.meta.url);
const READER = new URL('./noted-reader-thread.ts', import.meta.url);

/** One ledger on its threads, which note their statements; only audits may read whole tables, and are not noted. */
export interface NotedLedger {
  readonly path: string;
  /** Those of ledgers that were closed, and of the calling thread. */
  readonly statements: Statements;
  /** The ledger without a row but its id: starting its threads for each test would take most of the time. */
  emptied(): Promise<SqliteLedger>;
  /** Closes it, and opens its file again. */
  reopen(): Promise<SqliteLedger>;
  remove(): Promise<void>;
}

export async function notedLedger(): Promise<NotedLedger> {
  const folder = await tempDir();
  const path = join(folder.path, 'ledger.db');
  const statements: Statements = new Map();
  let current = await open(path, statements);
  const empty = emptier(path);
  // Tests keep the one that they were given while its file is opened again.
  const ledger = new Proxy({} as SqliteLedger, { get: (_, name) => Reflect.get(current, name) });
  return {
    path,
    statements,
    emptied: async () => {
      empty.run();
      return ledger;
    },
    reopen: async () => {
      await current.close();
      current = await open(path, statements);
      return ledger;
    },
    remove: async () => {
      empty.close();
      await current.close();
      await folder.remove();
    },
  };
}

/** Its lanes have owners in their ids as the suite's messages have. */
async function open(path: string, statements: Statements): Promise<SqliteLedger> {
  const reading = { path, readOnlyFile: false };
  const noted = async (script: URL, init: object): Promise<Thread> =>
    tellingAtLast(await startThread(script, init), statements);
  const writer = await noted(WRITER, { path, newLedgerId: 'led_noted' });
  return ledgerOf({
    path,
    writer,
    here: noting(connectToRead(path, reading), statements),
    reader: openReader(() => noted(READER, reading)),
    auditor: openReader(() => startReader(reading)),
    tools: { ...systemTools, hash: hashOf },
  });
}

/** The same thread, which tells its statements before it is closed. */
const tellingAtLast = (thread: Thread, statements: Statements): Thread => ({
  ...thread,
  close: async () => {
    for (const [text, given] of await thread.call<Statements>(STATEMENTS)) statements.set(text, given);
    await thread.close();
  },
});

/** Deletes every row but the ledger's id. A connection for each time would read the schema each time. */
function emptier(path: string): { run(): void; close(): void } {
  const db = new Database(path);
  db.pragma('foreign_keys = OFF');
  db.pragma('synchronous = OFF');
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta'").pluck().all();
  const deletes = tables.map((table) => db.prepare(`DELETE FROM ${table}`));
  deletes.push(db.prepare("DELETE FROM meta WHERE key <> 'ledger_id'"));
  const run = db.transaction(() => {
    for (const one of deletes) one.run();
  });
  return { run: () => run.immediate(), close: () => void db.close() };
}
