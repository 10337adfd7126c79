import { execFile } from 'node:child_process';
import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TestPostgres } from '@slowwave/testkit';
import { attempt } from '../api.ts';
import type { Member } from '../member.ts';
import type { Random } from '../random.ts';
import { dropIndex, type Stage } from '../stage.ts';
import { EVERYWHERE, type Fault, ON_FILES, ON_POSTGRES, ON_REDIS } from './fault.ts';
import { folderVanished } from './folder.ts';

const run = promisify(execFile);

const REDIS_DOWN_MS = { from: 100, to: 3_000 };
/** Longer than a connection waits for another's transaction (5 s), sometimes. */
const BUSY_MS = { from: 200, to: 6_500 };
const FULL_MS = { from: 300, to: 2_500 };
const POSTGRES_DOWN_MS = { from: 0, to: 2_000 };
const AGAIN_MS = 5;
const DUPLICATES_MAX = 10;

const drawn = (random: Random, { from, to }: { from: number; to: number }): number => random.between(from, to);

const redisKilled: Fault = {
  kind: 'Redis killed',
  modes: ON_REDIS,
  interrupts: true,
  run: async ({ queue }, random) => queue?.crash(drawn(random, REDIS_DOWN_MS)),
};

const redisWiped: Fault = {
  kind: 'Redis wiped',
  modes: ON_REDIS,
  interrupts: true,
  run: async ({ queue }) => queue?.wipe(),
};

const duplicated: Fault = {
  kind: 'turns delivered twice',
  modes: ON_REDIS,
  interrupts: true,
  lingers: true, // a turn that is not due yet comes twice when it is
  run: async ({ queue }) => void (await queue?.duplicate(DUPLICATES_MAX)),
};

/** Longer than a process needs to notice that a connection is silent, and to make another, on a busy machine. */
const READY_WITHIN_MS = 60_000;

/** A network forgets all connections that lead to Redis. Whoever uses them has to find out, and to make others. */
const redisSilent: Fault = {
  kind: 'Redis connections silent',
  modes: ON_REDIS,
  interrupts: true,
  lingers: true, // whoever waits for an answer finds out later
  run: async ({ queue, members }, random) => {
    queue?.silence(random);
    const late = await Promise.all(members.map(async (member) => ((await untilReady(member)) ? [] : [member.name])));
    if (late.flat().length > 0) throw new Error(`${late.flat().join(', ')} not ready after ${READY_WITHIN_MS} ms`);
  },
};

async function untilReady({ url }: Member): Promise<boolean> {
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; ) {
    // Checked by itself every few seconds at most: what it says at once may be from before.
    await sleep(READY_AGAIN_MS);
    if ((await attempt('GET', `${url}/readyz`))?.status === 200) return true;
  }
  return false;
}
const READY_AGAIN_MS = 3_000;

const ORPHANING_MS = { from: 500, to: 2_000 };
const ORPHAN_EVERY_MS = 100;

/** Parts of the queue vanish again and again while turns are put in line: jobs are left that are in no list. */
const orphaned: Fault = {
  kind: 'parts of the queue removed',
  modes: ON_REDIS,
  interrupts: true,
  lingers: true,
  run: async ({ queue }, random) => {
    for (const end = Date.now() + drawn(random, ORPHANING_MS); Date.now() < end; ) {
      await queue?.orphan(random);
      await sleep(ORPHAN_EVERY_MS);
    }
  },
};

/** The file, the collection, or the schema is gone when the processes come back. */
const indexWiped: Fault = {
  kind: 'index wiped',
  modes: EVERYWHERE,
  interrupts: true,
  run: async ({ readers, dataDir, qdrant, postgres }) => {
    for (const reader of readers) await reader.halt();
    if (qdrant !== null) await dropIndex(qdrant);
    if (postgres !== null) await dropSchema(postgres);
    for await (const file of glob(join(dataDir, 'index.db*'))) await rm(file, { force: true });
    await Promise.all(readers.map((reader) => reader.release()));
  },
};

/** While another fault has the server down, it stays. */
async function dropSchema({ url }: TestPostgres): Promise<void> {
  await run('psql', [url, '-c', 'DROP SCHEMA IF EXISTS slowwave_index CASCADE']).catch(() => {});
}

/** Another process has begun to write, and takes its time. */
const ledgerBusy: Fault = {
  kind: 'ledger busy',
  modes: EVERYWHERE,
  interrupts: true,
  run: (stage, random) => {
    const ms = drawn(random, BUSY_MS);
    return stage.postgres === null ? holdFile(stage, ms) : holdTable(stage, random, ms);
  },
};

async function holdFile({ dataDir }: Stage, ms: number): Promise<void> {
  const db = openedThere(join(dataDir, 'ledger.db'));
  if (db === null) return;
  try {
    await untilBegun(db);
    await sleep(ms);
    db.exec('ROLLBACK');
  } finally {
    db.close();
  }
}

/** null while another fault has the folder elsewhere: nobody can write there then. */
function openedThere(path: string): DatabaseSync | null {
  try {
    return new DatabaseSync(path);
  } catch (error) {
    if (String(error).includes('unable to open')) return null;
    throw error;
  }
}

async function untilBegun(db: DatabaseSync): Promise<void> {
  for (;;) {
    try {
      return db.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (!String(error).includes('locked')) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

const TABLES = ['lanes', 'batches', 'memories', 'events', 'outbox', 'answers', 'graph_studies', 'graph_relations'];

async function holdTable({ postgres }: Stage, random: Random, ms: number): Promise<void> {
  if (postgres === null) return;
  const sql = `BEGIN; LOCK TABLE ${random.pick(TABLES)} IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${ms / 1_000}); COMMIT`;
  // It may itself be the one that gives way to a deadlock, or lose a server that is killed meanwhile.
  await run('psql', [postgres.url, '-v', 'ON_ERROR_STOP=1', '-c', sql]).catch(() => {});
}

/** No file of any process may grow: what a full disk comes to, without filling one. */
const ledgerFull: Fault = {
  kind: 'disk full',
  modes: ON_FILES,
  interrupts: true,
  run: async ({ members }, random) => {
    const limit = (size: string) => Promise.all(members.map(({ pid }) => limitFiles(pid(), size)));
    await limit(SMALL_BYTES);
    await sleep(drawn(random, FULL_MS));
    await limit('unlimited');
  },
};
/** Below the size of every file there is. */
const SMALL_BYTES = '4096';

async function limitFiles(pid: number | null, size: string): Promise<void> {
  if (pid === null) return;
  // Only what holds now; what it may be raised to stays. A process that has just ended needs none.
  await run('prlimit', [`--pid=${pid}`, `--fsize=${size}:`]).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Error('expected prlimit (package util-linux) on the PATH, found none');
  });
}

const ledgerKilled: Fault = {
  kind: 'PostgreSQL killed',
  modes: ON_POSTGRES,
  interrupts: true,
  run: async ({ postgres }, random) => {
    await postgres?.halt();
    await sleep(drawn(random, POSTGRES_DOWN_MS));
    await postgres?.resume();
  },
};

export const STORE_FAULTS: readonly Fault[] = [
  redisKilled,
  redisWiped,
  duplicated,
  redisSilent,
  orphaned,
  indexWiped,
  ledgerBusy,
  ledgerFull,
  folderVanished,
  ledgerKilled,
];
