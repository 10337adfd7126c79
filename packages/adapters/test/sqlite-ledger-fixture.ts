import { join } from 'node:path';
import { hashOf } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { openSqliteLedger, type SqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';

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
