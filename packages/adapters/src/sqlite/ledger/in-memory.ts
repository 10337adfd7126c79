import type { StoredLedger, Tools } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';
import { aroundEach } from '../../ledger/graph/graph-store.ts';
import type { Script } from '../../ledger/script.ts';
import { storesOf } from '../../ledger/stores.ts';
import { ledgerIdOf, migrate } from './migrate.ts';
import { FILTERING } from './open.ts';
import { PAGE_BYTES, runScript, sqlOf } from './sql.ts';

/** What an empty ledger is, made once: to run the schema takes longer than to copy it. */
let empty: Buffer | null = null;

function emptyLedger(tools: Tools): Buffer {
  const db = new Database(':memory:');
  migrate(sqlOf(db), tools.id('led'));
  const bytes = db.serialize();
  db.close();
  return bytes;
}

/** A ledger that nobody else has and that is gone when it is closed, on the calling thread: for a few owners, to be read. */
export function openLedgerInMemory(tools: Tools): StoredLedger & { readonly bytes: () => number } {
  empty ??= emptyLedger(tools);
  const sql = sqlOf(new Database(empty));
  const inTransaction = sql.db.transaction((script: Script<unknown>) => runScript(sql, script));
  const run = async <T>(script: Script<T>): Promise<T> => inTransaction(script) as T;
  const access = {
    read: <Input, T>({ script }: { script: (input: Input) => Script<T> }, input: Input) => run(script(input)),
    write: <Input, T>({ script }: { script: (input: Input) => Script<T> }, input: Input) => run(script(input)),
  };
  return {
    id: ledgerIdOf(sql),
    ...storesOf(access, {
      append: () => Promise.reject(new EngineError('nothing is appended to a ledger in memory', READ_ONLY)),
      around: aroundEach,
      compact: async () => ({ done: true, remains: [] }),
      filtering: FILTERING,
      newLaneId: () => {
        throw new EngineError('no owner is made in a ledger in memory', READ_ONLY);
      },
    }),
    check: async () => {},
    close: async () => {
      sql.db.close();
    },
    bytes: () => (sql.db.pragma('page_count', { simple: true }) as number) * PAGE_BYTES,
  };
}

const READ_ONLY = { code: 'ledger_unavailable', retryable: false } as const;
