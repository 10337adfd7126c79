import type { IndexHit, SearchIndex } from '@slowwave/engine';
import { startThread, type Thread } from '../../system/index.ts';
import { callsTo, INDEX_THREAD } from './calls.ts';
import type { IndexSpace, IndexThreadInit, ReaderMethods, WriterMethods } from './protocol.ts';
import { readersOf } from './readers.ts';

/** Owners that a reader keeps in memory: about 30,000 memories with vectors of 1,024 dimensions. */
const CACHE_BYTES = 48 * 2 ** 20;

export interface SqliteIndexOptions extends IndexSpace {
  readonly path: string;
  readonly cacheBytes?: number;
}

/**
 * A search index in one SQLite file, exact, for several processes on one machine. One thread writes, one reads, and
 * another one helps it out.
 */
export async function openSqliteIndex(options: SqliteIndexOptions): Promise<SearchIndex> {
  const { path, dimensions, fingerprint, cacheBytes = CACHE_BYTES } = options;
  const init = { path, space: { dimensions, fingerprint }, cacheBytes };
  const reader: IndexThreadInit = { ...init, role: 'reader' };
  const [writing, reading] = await startAll([{ ...init, role: 'writer' }, reader]);
  const write = callsTo<WriterMethods>(writing, path);
  const readers = readersOf(reading, path, () => start(reader));
  const read = readers.first;
  return {
    marker: () => read('marker'),
    stamp: (marker) => write('stamp', marker),
    upsert: (points) => write('upsert', points),
    withdraw: (withdrawals) => write('withdraw', withdrawals),
    search: async (queries) => (await readers.search(queries)).map((hits) => hits.map(hitOf)),
    forget: async (of) => {
      const gone = await write('forget', of);
      await readers.drop(of);
      return gone;
    },
    compact: () => write('compact'),
    clear: () => write('clear'),
    count: (tenant, shelf = 'memories') => read('count', tenant, shelf),
    page: async (after, limit) => {
      const { payloads, next } = await read('page', after, limit);
      return { points: payloads.map((payload) => JSON.parse(payload) as IndexHit['point']), next };
    },
    close: async () => {
      await Promise.all([writing.close(), readers.close()]);
    },
  };
}

/**
 * A block is a value of many hundred kilobytes, outside of the thread's own memory, that is mostly thrown away at once. A
 * small room for what is new has that noticed after some questions, before the thread stands still to look for more.
 */
const LIMITS = { maxYoungGenerationSizeMb: 6 };

const start = (init: IndexThreadInit): Promise<Thread> => startThread(INDEX_THREAD, init, LIMITS);

/** All of the threads, or none. */
async function startAll(inits: readonly [IndexThreadInit, IndexThreadInit]): Promise<[Thread, Thread]> {
  const starting = inits.map(start);
  const started = (await Promise.allSettled(starting)).flatMap((one) =>
    one.status === 'fulfilled' ? [one.value] : [],
  );
  const [first, second] = started;
  if (first !== undefined && second !== undefined) return [first, second];
  await first?.close();
  throw (await Promise.allSettled(starting)).find((one) => one.status === 'rejected')?.reason;
}

function hitOf(found: Awaited<ReturnType<ReaderMethods['search']>>[number][number]): IndexHit {
  const { payload, vectorScore, keywordScore } = found;
  return { point: JSON.parse(payload) as IndexHit['point'], vectorScore, keywordScore };
}
