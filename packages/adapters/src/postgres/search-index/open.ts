import type { BuildNote, IndexBuild, Log, SearchIndex } from '@slowwave/engine';
import { checkVector } from '../../index-point.ts';
import { callsTo, hitsOf } from '../../sqlite/search-index/open.ts';
import { spaceText } from '../../sqlite/search-index/protocol.ts';
import { startThread } from '../../system/system.ts';
import { askOf } from '../ledger/sql.ts';
import { placeOf } from '../pool.ts';
import type { IndexThreadInit, ThreadNotice } from './index-thread.ts';
import { connected, type IndexDatabase, type IndexMethods } from './methods.ts';
import { CHANGING_EDITION, forgetLane, type Place, throwAwayOthers, withdrawPoints, writePoints } from './write.ts';

const MIB = 2 ** 20;
/** Owners that a process keeps in memory: about 30,000 memories with vectors of 1,024 dimensions. */
const CACHE_BYTES = 48 * MIB;
/** And owners with very many: the last one whatever it takes. With 384 dimensions 50,000 memories take about 70. */
const CACHE_BYTES_OF_MANY = 192 * MIB;

export interface PostgresIndexOptions extends IndexDatabase {
  readonly log: Log;
  /** How much of owners is kept in memory. */
  readonly cache?: Partial<IndexThreadInit['cache']>;
}

/**
 * A search index in a PostgreSQL database, shared by any number of processes. A thread of its own asks the server and compares, so that
 * nothing else waits while it reads an owner who has very much.
 */
export async function openPostgresIndex({ log, cache, ...database }: PostgresIndexOptions): Promise<SearchIndex> {
  const sizes = { bytes: CACHE_BYTES, bytesOfMany: CACHE_BYTES_OF_MANY, ...cache };
  const thread = await startThread(INDEX_THREAD, { database, cache: sizes } satisfies IndexThreadInit);
  thread.onNotice((notice) => {
    const { facts, message } = notice as ThreadNotice;
    log.warn(facts, message);
  });
  const call = callsTo<IndexMethods>(thread, `at ${placeOf(database.url)}`);
  return {
    marker: () => call('marker'),
    stamp: (marker) => call('stamp', marker),
    upsert: (points) => call('upsert', points),
    withdraw: (withdrawals) => call('withdraw', withdrawals),
    search: async (queries) => hitsOf(queries, await call('search', queries)),
    vectors: (points) => call('vectors', points),
    forget: (of) => call('forget', of),
    compact: () => call('compact'),
    clear: () => call('clear'),
    count: (tenant, shelf) => call('count', tenant, shelf),
    page: (after, limit) => call('page', after, limit),
    close: () => thread.close(),
  };
}

const INDEX_THREAD = new URL('./index-thread.ts', import.meta.url);

/** What is kept of a build: which vectors it is for. */
interface StoredNote extends BuildNote {
  readonly space: string;
}

/** A new index beside the one in use, as the next edition in the same tables. Other processes may have the index open. */
export async function openPostgresBuild({
  log,
  ...database
}: Omit<PostgresIndexOptions, 'cache'>): Promise<IndexBuild & { close(): Promise<void> }> {
  const { dimensions, fingerprint } = database;
  const space = { dimensions, fingerprint };
  const { own, close } = await connected(database, log);
  const next: Place = { target: 'coalesce(next_edition, edition)', space: null };
  const kept = (note: BuildNote): string => JSON.stringify({ ...note, space: spaceText(space) } satisfies StoredNote);
  return {
    begun: async (ledgerId) => {
      const state = await own.read((sql) => sql.get<{ rebuild: string | null }>('SELECT rebuild FROM state'));
      const note = JSON.parse(state?.rebuild ?? 'null') as StoredNote | null;
      return note?.ledgerId === ledgerId && note.space === spaceText(space) ? note : null;
    },
    begin: async (note) => {
      await own.write((sql) => sql.askLast([CHANGING_EDITION, askOf(BEGIN, { note: kept(note) })]));
      await throwAwayOthers(own.write);
    },
    write: async (points) => {
      for (const { vector } of points) checkVector(vector, space);
      if (points.length > 0) await own.write((sql) => writePoints(sql, next, points));
    },
    forget: (of) => own.write((sql) => forgetLane(sql, next.target, of)),
    withdraw: async (withdrawals) => {
      if (withdrawals.length > 0) await own.write((sql) => withdrawPoints(sql, next, withdrawals));
    },
    note: async (note) => {
      await own.statement((sql) => sql.run('UPDATE state SET rebuild = @note', { note: kept(note) }));
    },
    takeOver: async () => {
      await own.write((sql) => sql.askLast([CHANGING_EDITION, askOf(TAKE_OVER, { space: spaceText(space) })]));
    },
    finish: async (marker) => {
      const finished = { marker: JSON.stringify(marker) };
      await own.statement((sql) => sql.run('UPDATE state SET marker = @marker, rebuild = NULL', finished));
      await throwAwayOthers(own.write);
    },
    close,
  };
}

const BEGIN = "UPDATE state SET next_edition = nextval('numbers'), rebuild = @note";

/** Without a marker until the build is finished: nobody believes it yet, whoever has another embedder is refused. */
const TAKE_OVER = `
UPDATE state SET edition = next_edition, next_edition = NULL, space = @space, marker = NULL WHERE next_edition IS NOT NULL`;
