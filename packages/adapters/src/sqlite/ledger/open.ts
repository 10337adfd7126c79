import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Compaction, LaneId, StoredLedger, Tools } from '@slowwave/engine';
import { EngineError, InvalidCursorError, ownerBitsOf } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';
import type { OwnedBy } from '../../ledger/away.ts';
import { postedFrom } from '../../ledger/batches.ts';
import type { Filtering } from '../../ledger/filtered.ts';
import { aroundEach } from '../../ledger/graph/graph-store.ts';
import { ownerOfBatch } from '../../ledger/lanes.ts';
import type { Access, Script } from '../../ledger/script.ts';
import { proving, storesOf } from '../../ledger/stores.ts';
import { startThread, type Thread } from '../../system/system.ts';
import { asLedgerError, sameFile, unavailable } from '../file.ts';
import { packed } from './append.ts';
import { ledgerIdOf, migrate, requireSchema } from './migrate.ts';
import type { ReaderInit } from './reader.ts';
import { connectToRead, PAGE_BYTES, runScript, type Sql, snapshotsOf, sqliteDialect, sqlOf } from './sql.ts';
import { APPEND, COMMITTED, COMPACT, type Committed, type WriterInit } from './writer.ts';

interface SqliteLedgerOptions {
  /** The file; it and its folder are made if missing. Not on a network file system: those break SQLite's locks. */
  readonly path: string;
  readonly tools: Tools;
  /** For a process that never writes: the file must exist, and be migrated by one that does. */
  readonly readOnly?: boolean;
}

export interface SqliteLedger extends StoredLedger {
  /** How many calls shared how many commits so far. */
  committed(): Promise<Committed>;
}

/** The ledger in one SQLite file. Reads and writes run on threads of their own, lookups on the calling one. */
export async function openSqliteLedger({ path, tools, readOnly = false }: SqliteLedgerOptions): Promise<SqliteLedger> {
  const writer = readOnly ? null : await startWriter(path, tools);
  try {
    const here = connectHere(path, readOnly);
    const open = (): Reader => openReader(() => startReader({ path, readOnlyFile: readOnly }));
    return ledgerOf({ path, here, reader: open(), auditor: open(), writer, tools });
  } catch (error) {
    await writer?.close();
    throw asLedgerError(error);
  }
}

async function startWriter(path: string, tools: Tools): Promise<Thread> {
  await mkdir(dirname(path), { recursive: true });
  const init: WriterInit = { path, newLedgerId: tools.id('led') };
  return startThread(new URL('./writer-thread.ts', import.meta.url), init);
}

function connectHere(path: string, readOnlyFile: boolean): Sql {
  const here = connectToRead(path, { readOnlyFile });
  try {
    requireSchema(here);
    return here;
  } catch (error) {
    here.db.close();
    throw error;
  }
}

/** So many conditions take 2 to 5 ms: other reads wait for them. */
const FILTERING: Filtering = { dialect: sqliteDialect, testsAtOnce: 500 };

interface Opened extends Connections {
  readonly path: string;
  readonly tools: Tools;
}

export function ledgerOf({ path, tools, ...connections }: Opened): SqliteLedger {
  const { here, reader, auditor, writer } = connections;
  const access = accessOf(connections);
  const requireFile = sameFile(path);
  const newLaneId = (of: OwnedBy): LaneId => tools.id('lane', ownerBitsOf(tools, of)) as LaneId;
  return {
    id: ledgerIdOf(here),
    ...storesOf(access, {
      append: (batch, policy) =>
        access.call(APPEND, packed({ posted: postedFrom(batch), policy, newLaneId: newLaneId(ownerOfBatch(batch)) })),
      around: aroundEach,
      compact: () => compact(writer),
      filtering: FILTERING,
      newLaneId,
    }),
    check: () => check(access, { requireFile, writable: writer !== null, now: tools.now() }),
    committed: async () => (await writer?.call<Committed>(COMMITTED)) ?? { commits: 0, calls: 0 },
    // The writer last: the last connection to close tidies the file, which needs to write.
    close: async () => {
      await Promise.all([reader.close(), auditor.close()]);
      here.db.close();
      await writer?.close();
    },
  };
}

/** A process that only reads has nothing to compact. */
const compact = async (writer: Thread | null): Promise<Compaction> =>
  (await writer?.call<Compaction>(COMPACT)) ?? { done: false, remains: [] };

interface Checking {
  readonly requireFile: () => void;
  readonly writable: boolean;
  readonly now: number;
}

async function check(access: Access, { requireFile, writable, now }: Checking): Promise<void> {
  requireFile();
  const { readable, writable: isWritable } = proving(access);
  await readable();
  if (writable) await isWritable(now);
}

interface Connections {
  /** The calling thread's own, for lookups. */
  readonly here: Sql;
  readonly reader: Reader;
  readonly auditor: Reader;
  /** null for a process that only reads. */
  readonly writer: Thread | null;
}

/** How the stores reach the file: lookups run on the calling thread, other reads, audits and writes on threads of their own. */
function accessOf({ here, reader, auditor, writer }: Connections): Access & {
  /** Calls the writer by the name of what it is to do; resolves when what it writes is on the disk. */
  call<Result>(name: string, input: unknown): Promise<Result>;
} {
  const snapshot = snapshotsOf(here);
  const lookup = async <T>(script: Script<T>): Promise<T> => {
    try {
      return snapshot(script);
    } catch (error) {
      throw asLedgerError(error);
    }
  };
  const call = async <T>(name: string, input: unknown): Promise<T> => {
    if (writer === null) throw readOnly(name);
    try {
      return await writer.call<T>(name, input);
    } catch (error) {
      // The thread sends EngineErrors; anything else says that the thread itself is gone.
      if (error instanceof EngineError) throw error;
      throw unavailable('the ledger of this process is closed or its writer has died; restart the process', error);
    }
  };
  return {
    read: ({ name, script, reach }, input) => {
      if (reach === 'lookup') return lookup(script(input));
      return (reach === 'audit' ? auditor : reader).read(name, input);
    },
    write: ({ name }, input) => call(name, input),
    call,
  };
}

const readOnly = (name: string): EngineError =>
  new EngineError(
    `this process opened the ledger for reading only, so it cannot ${name}; open it with readOnly: false`,
    {
      code: 'ledger_unavailable',
      retryable: false,
    },
  );

/** Reads a ledger on a thread of its own. */
export interface Reader {
  /** Runs a script by its name. */
  read<Result>(name: string, input: unknown): Promise<Result>;
  close(): Promise<void>;
}

export const startReader = (init: ReaderInit): Promise<Thread> =>
  startThread(new URL('./reader-thread.ts', import.meta.url), init);

/** Starts the thread when it is asked for the first time, and again when the one before has died. */
export function openReader(start: () => Promise<Thread>): Reader {
  let running: Promise<Thread> | null = null;
  let closed = false;
  const startAnew = (): Promise<Thread> => {
    const started = start();
    const forget = (): void => {
      if (running === started) running = null;
    };
    started.then((thread) => thread.gone.then(forget), forget);
    return started;
  };
  return {
    read: async <Result>(name: string, input: unknown) => {
      try {
        if (closed) throw new Error('it was closed');
        running ??= startAnew();
        return await (await running).call<Result>(name, input);
      } catch (error) {
        if (error instanceof EngineError || error instanceof InvalidCursorError) throw error;
        throw unavailable('the ledger of this process is closed, or its reader has died; retry', error);
      }
    },
    close: async () => {
      closed = true;
      await (await running?.catch(() => null))?.close();
    },
  };
}

/** What an empty ledger is, made once: to run the schema takes longer than to copy it. */
let empty: Buffer | null = null;

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
      append: () => Promise.reject(new EngineError('a ledger in memory does not accept batches', READ_ONLY)),
      around: aroundEach,
      compact: async () => ({ done: true, remains: [] }),
      filtering: FILTERING,
      newLaneId: () => {
        throw new EngineError('a ledger in memory does not create owners', READ_ONLY);
      },
    }),
    check: async () => {},
    close: async () => {
      sql.db.close();
    },
    bytes: () => (sql.db.pragma('page_count', { simple: true }) as number) * PAGE_BYTES,
  };
}

function emptyLedger(tools: Tools): Buffer {
  const db = new Database(':memory:');
  migrate(sqlOf(db), tools.id('led'));
  const bytes = db.serialize();
  db.close();
  return bytes;
}

const READ_ONLY = { code: 'ledger_unavailable', retryable: false } as const;
