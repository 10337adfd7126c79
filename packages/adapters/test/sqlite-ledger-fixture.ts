import { join } from 'node:path';
import type { Ledger } from '@slowwave/engine';
import { hashOf, type OpenedLedger } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { openSqliteLedger, type SqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/index.ts';

export interface LedgerFile {
  readonly path: string;
  /** One more ledger on the same file, as another process has it; closed with the file at the latest. */
  open(given?: { readOnly?: boolean }): Promise<SqliteLedger>;
  remove(): Promise<void>;
}

/** A new file for ledgers. Their lanes have owners in their ids as the suites' messages have. */
export async function ledgerFile(): Promise<LedgerFile> {
  const dir = await tempDir();
  const path = join(dir.path, 'data', 'ledger.db');
  const opened: SqliteLedger[] = [];
  return {
    path,
    open: async (given = {}) => {
      const ledger = await openSqliteLedger({ path, tools: { ...systemTools, hash: hashOf }, ...given });
      opened.push(ledger);
      return ledger;
    },
    remove: async () => {
      for (const ledger of opened) await ledger.close();
      await dir.remove();
    },
  };
}

/** One ledger that is emptied for every test: starting a writer thread each time would take most of the time. */
export async function emptiedLedger(): Promise<{ open(): Promise<OpenedLedger>; remove(): Promise<void> }> {
  const file = await ledgerFile();
  let current = await file.open();
  const ledger = following(() => current);
  const reopen = async () => {
    await current.close();
    current = await file.open();
    return ledger;
  };
  return {
    open: async () => {
      emptyTables(file.path);
      return { ledger, reopen, close: async () => {} };
    },
    remove: file.remove,
  };
}

/** A ledger that is whichever is open now. */
function following(current: () => Ledger): Ledger {
  return {
    get id() {
      return current().id;
    },
    get usage() {
      return current().usage;
    },
    get limits() {
      return current().limits;
    },
    get shares() {
      return current().shares;
    },
    get batches() {
      return current().batches;
    },
    get departures() {
      return current().departures;
    },
    get bulk() {
      return current().bulk;
    },
    get lanes() {
      return current().lanes;
    },
    get thoughts() {
      return current().thoughts;
    },
    get summaries() {
      return current().summaries;
    },
    get lookups() {
      return current().lookups;
    },
    get webhooks() {
      return current().webhooks;
    },
    get receipts() {
      return current().receipts;
    },
    get topics() {
      return current().topics;
    },
    get trail() {
      return current().trail;
    },
    get memories() {
      return current().memories;
    },
    get taskStates() {
      return current().taskStates;
    },
    get models() {
      return current().models;
    },
    get saidIds() {
      return current().saidIds;
    },
    get filtered() {
      return current().filtered;
    },
    get present() {
      return current().present;
    },
    get speech() {
      return current().speech;
    },
    get replays() {
      return current().replays;
    },
    get suites() {
      return current().suites;
    },
    get canaries() {
      return current().canaries;
    },
    get undos() {
      return current().undos;
    },
    get nights() {
      return current().nights;
    },
    get keys() {
      return current().keys;
    },
    get links() {
      return current().links;
    },
    get reviews() {
      return current().reviews;
    },
    get settings() {
      return current().settings;
    },
    get outbox() {
      return current().outbox;
    },
    get overview() {
      return current().overview;
    },
    get audit() {
      return current().audit;
    },
    get contents() {
      return current().contents;
    },
    get retention() {
      return current().retention;
    },
    get erasures() {
      return current().erasures;
    },
    get graph() {
      return current().graph;
    },
    check: () => current().check(),
    close: () => current().close(),
  };
}

/** Deletes every row but the ledger's id. */
export function emptyTables(path: string): void {
  const db = new Database(path);
  db.pragma('foreign_keys = OFF');
  db.pragma('synchronous = OFF');
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta'").pluck().all();
  const deletes = tables.map((table) => `DELETE FROM ${table};`).join('');
  db.exec(`BEGIN; ${deletes} DELETE FROM meta WHERE key <> 'ledger_id'; COMMIT;`);
  db.close();
}
