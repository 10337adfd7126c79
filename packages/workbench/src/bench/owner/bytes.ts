import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, tempDir } from '@slowwave/testkit';
import type { Bench, Given, Progress } from '../bench.ts';
import { atMost, type Comparison, type Found } from '../report.ts';
import { exchange } from './exchanges.ts';
import { vacuum } from './fill.ts';
import { sayings } from './sayings.ts';
import { withServerOn } from './server.ts';
import {
  type DatabaseTable,
  STORES,
  type TableBytes,
  tablesInDatabase,
  tablesInFolder,
  without,
} from './table-bytes.ts';

const TARGET = 4_096;
/** What tables that grew may take, of what they take when they were just compacted. */
const GROWN_MOST = 1.5;
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
    stores: { usual: 'sqlite', help: 'Where ledger and index are: sqlite or postgres.' },
  },
  run: (given, progress) => {
    const options = optionsOf(given);
    return options.stores === 'sqlite' ? inFiles(options, progress) : inDatabase(options, progress);
  },
};

const optionsOf = (given: Given) => ({
  users: given.number('users', { max: 100_000 }),
  exchanges: given.number('exchanges', { max: 1_000 }),
  dimensions: given.number('dimensions', { max: 4_096 }),
  messages: given.choice('messages', ['hybrid', 'keyword', 'off']),
  stores: given.choice('stores', ['sqlite', 'postgres']),
});

type Options = ReturnType<typeof optionsOf>;

async function inFiles(options: Options, progress: Progress): Promise<Found> {
  const folder = await tempDir();
  try {
    await talked({ ...options, folder: folder.path, settings: {} }, progress, async () => {});
    const found = foundOf(tablesInFolder(folder.path), options);
    const all = found.figures.find(({ what }) => what === ALL)?.value ?? 0;
    const logs = { what: 'logs that are left when the server has stopped', unit: 'bytes' };
    return {
      ...found,
      figures: [...found.figures, { ...logs, value: await logBytesIn(folder.path) }],
      verdicts: [
        {
          what: 'a memory of one line on the disk',
          reached: `${Math.round(all)} bytes`,
          target: `at most ${TARGET}`,
          passed: all <= TARGET,
          misses: [],
        },
      ],
    };
  } finally {
    await folder.remove();
  }
}

async function logBytesIn(folder: string): Promise<number> {
  const logs = (await readdir(folder)).filter((name) => name.endsWith('-wal'));
  const sizes = await Promise.all(logs.map((name) => stat(join(folder, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** As the tables have grown, vacuumed by the server as it does by itself; and as they are when they have been compacted. */
async function inDatabase(options: Options, progress: Progress): Promise<Found> {
  const [folder, postgres] = [await tempDir(), await startPostgres()];
  try {
    const settings = { DATABASE_URL: postgres.url, SLOWWAVE_INDEX: 'postgres' };
    const tables = () => tablesInDatabase(postgres);
    const empty = await talked({ ...options, folder: folder.path, settings }, progress, tables);
    const grown = without(await tables(), empty);
    progress('compacting');
    await vacuum(postgres.url, 'FULL');
    const compact = without(await tables(), empty);
    const found = foundOf(grown, options, (one) => compactedFigures(one, compact, options));
    return { ...found, comparisons: STORES.map((store) => grownMost(store, { grown, compact }, options)) };
  } finally {
    await postgres.stop();
    await folder.remove();
  }
}

function compactedFigures({ store, table, dead }: DatabaseTable, compact: readonly TableBytes[], options: Options) {
  const bytes = compact.find((one) => one.store === store && one.table === table)?.bytes ?? 0;
  return [
    { what: '  compacted', value: bytes / memoriesOf(options), unit: UNIT },
    { what: '  rows that nobody sees any more', value: dead, unit: 'of 100' },
  ];
}

interface GrownAndCompact {
  readonly grown: readonly TableBytes[];
  readonly compact: readonly TableBytes[];
}

function grownMost(store: TableBytes['store'], { grown, compact }: GrownAndCompact, options: Options): Comparison {
  const of = (tables: readonly TableBytes[]): number =>
    bytesOf(tables.filter((one) => one.store === store)) / memoriesOf(options);
  return atMost(GROWN_MOST, {
    what: `${store} in PostgreSQL`,
    unit: UNIT,
    ours: { name: 'as it has grown', value: of(grown) },
    yardstick: { name: 'compacted', value: of(compact) },
  });
}

interface Stage extends Options {
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Lets users talk to a server; says what its stores were before. */
async function talked<T>(stage: Stage, progress: Progress, before: () => Promise<T>): Promise<T> {
  const { folder, users, exchanges, dimensions, messages } = stage;
  const words = sayings(dimensions);
  const settings = {
    ...stage.settings,
    SLOWWAVE_EMBEDDING_MODEL: 'scripted',
    SLOWWAVE_EMBEDDING_DIMENSIONS: String(dimensions),
    SLOWWAVE_INDEX_MESSAGES: messages,
  };
  return await withServerOn(folder, { words, settings }, async ({ api }) => {
    const there = await before();
    await exchange(api, { users, exchanges, words, isEachAlone: true }, progress);
    return there;
  });
}

const memoriesOf = ({ users, exchanges }: Options): number => users * exchanges;

/** Receipts are kept for days only. */
const bytesOf = (tables: readonly TableBytes[]): number =>
  tables.filter(({ table }) => !RECEIPTS.includes(table)).reduce((sum, one) => sum + one.bytes, 0);

function foundOf<T extends TableBytes>(
  tables: readonly T[],
  options: Options,
  more: (table: T) => Found['figures'] = () => [],
): Found {
  const { users, dimensions, messages, stores } = options;
  const memories = memoriesOf(options);
  const of = (store: string): number => bytesOf(tables.filter((one) => one.store === store)) / memories;
  const all = bytesOf(tables) / memories;
  return {
    title: `bytes: ${memories.toLocaleString('en')} memories of ${users} users, vectors of ${dimensions} dimensions, messages in the index: ${messages}, ${NAMES[stores]}`,
    figures: [
      ...tables
        .filter(({ bytes }) => bytes / memories >= SHOWN_LEAST)
        .toSorted((a, b) => b.bytes - a.bytes)
        .flatMap((one) => [
          { what: `${one.store} ${one.table}`, value: one.bytes / memories, unit: UNIT },
          ...more(one),
        ]),
      ...STORES.map((store) => ({ what: `${store}, receipts left out`, value: of(store), unit: UNIT })),
      { what: ALL, value: all, unit: UNIT },
      {
        what: `  of ${PLANNED_USERS.toLocaleString('en')} users with ${PLANNED_MEMORIES} memories each`,
        value: (all * PLANNED_USERS * PLANNED_MEMORIES) / GIB,
        unit: 'GiB',
      },
    ],
    verdicts: [],
    remarks: [
      'A table with its indexes, by the pages that it takes. Every exchange has its batch, answers of the model, and plan.',
    ],
  };
}

const UNIT = 'bytes a memory';
const ALL = 'all of it, receipts left out';
const NAMES = { sqlite: 'in SQLite', postgres: 'in PostgreSQL' };
