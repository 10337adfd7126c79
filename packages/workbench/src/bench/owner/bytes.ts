import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import type { Bench, Given } from '../bench.ts';
import type { Found } from '../report.ts';
import { exchange } from './exchanges.ts';
import { sayings } from './sayings.ts';
import { withServerOn } from './server.ts';

const TARGET = 4_096;
/** Kept for days only, and not because of what is remembered. */
const RECEIPTS = ['receipts', 'credits'];
const SHOWN_LEAST = 16;
/** What a plan for so many users comes to: see `slowwave plan`. */
const PLANNED_USERS = 10_000;
const PLANNED_MEMORIES = 100;
const GIB = 2 ** 30;

/** What a memory takes on the disk. */
export const bytes: Bench = {
  name: 'bytes',
  what: 'Bytes on disk for each one-line memory from an exchange of two messages, by table: ledger and index, with everything that is stored.',
  draws: false,
  flags: {
    users: { usual: '50', help: 'Users, who say one thing at a time.' },
    exchanges: { usual: '20', help: 'What each of them says: a message, and its answer. Each is consolidated alone.' },
    dimensions: { usual: '384', help: 'Dimensions of the vectors.' },
    messages: { usual: 'hybrid', help: 'How messages are indexed: hybrid, keyword or off.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { users, exchanges, dimensions } = options;
    const [folder, words] = [await tempDir(), sayings(dimensions)];
    try {
      const settings = {
        SLOWWAVE_EMBEDDING_MODEL: 'scripted',
        SLOWWAVE_EMBEDDING_DIMENSIONS: String(dimensions),
        SLOWWAVE_INDEX_MESSAGES: options.messages,
      };
      await withServerOn(folder.path, { words, settings }, ({ api }) =>
        exchange(api, { users, exchanges, words, isEachAlone: true }, progress),
      );
      return await foundIn(folder.path, options);
    } finally {
      await folder.remove();
    }
  },
};

const optionsOf = (given: Given) => ({
  users: given.number('users', { max: 100_000 }),
  exchanges: given.number('exchanges', { max: 1_000 }),
  dimensions: given.number('dimensions', { max: 4_096 }),
  messages: given.choice('messages', ['hybrid', 'keyword', 'off']),
});

type Options = ReturnType<typeof optionsOf>;

interface TableBytes {
  readonly name: string;
  readonly bytes: number;
}

async function foundIn(folder: string, { users, exchanges, dimensions, messages }: Options): Promise<Found> {
  const memories = users * exchanges;
  const files = ['ledger.db', 'index.db'] as const;
  const tables = files.flatMap((file) =>
    tablesIn(join(folder, file)).map((one) => ({ ...one, name: `${file} ${one.name}` })),
  );
  const counted = tables.filter(({ name }) => !RECEIPTS.some((receipts) => name.endsWith(` ${receipts}`)));
  const all = counted.reduce((sum, one) => sum + one.bytes, 0) / memories;
  const logs = (await readdir(folder)).filter((name) => name.endsWith('-wal'));
  const logBytes = (await Promise.all(logs.map((name) => stat(join(folder, name))))).reduce(
    (sum, { size }) => sum + size,
    0,
  );
  const ofFile = (file: string): number =>
    counted.filter(({ name }) => name.startsWith(file)).reduce((sum, one) => sum + one.bytes, 0) / memories;
  const shown = tables.map((one) => ({ ...one, bytes: one.bytes / memories })).sort((a, b) => b.bytes - a.bytes);
  return {
    title: `bytes: ${memories.toLocaleString('en')} memories of ${users} users, vectors of ${dimensions} dimensions, messages in the index: ${messages}`,
    figures: [
      ...shown
        .filter((one) => one.bytes >= SHOWN_LEAST)
        .map((one) => ({ what: one.name, value: one.bytes, unit: 'bytes a memory' })),
      ...files.map((file) => ({ what: `${file}, receipts left out`, value: ofFile(file), unit: 'bytes a memory' })),
      { what: 'all of it, receipts left out', value: all, unit: 'bytes a memory' },
      {
        what: `  of ${PLANNED_USERS.toLocaleString('en')} users with ${PLANNED_MEMORIES} memories each`,
        value: (all * PLANNED_USERS * PLANNED_MEMORIES) / GIB,
        unit: 'GiB',
      },
      { what: 'logs that are left when the server has stopped', value: logBytes, unit: 'bytes' },
    ],
    verdicts: [
      {
        what: 'a memory of one line on the disk',
        reached: `${Math.round(all)} bytes`,
        target: `at most ${TARGET}`,
        passed: all <= TARGET,
        misses: [],
      },
    ],
    remarks: [
      'A table with its indexes, by the pages that it takes. Every exchange has its batch, answers of the model, and plan.',
    ],
  };
}

/** By the pages of each table and its indexes; what has room on one page alone by what is on it, as a page is nothing among many. */
function tablesIn(path: string): readonly TableBytes[] {
  const file = new Database(path, { readonly: true });
  try {
    const trees =
      'SELECT name, CASE count(*) WHEN 1 THEN sum(payload) ELSE sum(pgsize) END AS bytes FROM dbstat GROUP BY name';
    const sizes = `SELECT s.tbl_name AS name, sum(t.bytes) AS bytes FROM (${trees}) AS t JOIN sqlite_schema AS s USING (name) GROUP BY 1`;
    return file.prepare<[], TableBytes>(sizes).all();
  } finally {
    file.close();
  }
}
