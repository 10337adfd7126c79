import type { IndexBuild, IndexHit, IndexQuery, SearchIndex } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { type Kept, shownFrom } from '../../index-point.ts';
import { startThread, type Thread } from '../../system/system.ts';
import type {
  BuildMethods,
  FoundPoints,
  IndexSpace,
  IndexThreadInit,
  ReaderMethods,
  WriterMethods,
} from './protocol.ts';

const MIB = 2 ** 20;
/** Owners that a reader keeps in memory: about 30,000 memories with vectors of 1,024 dimensions. */
const CACHE_BYTES = 48 * MIB;
/** And owners with very many: the last one whatever it takes. With 384 dimensions 50,000 memories take about 70. */
const CACHE_BYTES_OF_MANY = 192 * MIB;

export interface SqliteIndexOptions extends IndexSpace {
  readonly path: string;
  readonly cache?: Partial<IndexThreadInit['cache']>;
}

/**
 * A search index in one SQLite file, exact, for several processes on one machine. One thread writes, one reads, and
 * another one helps it out.
 */
export async function openSqliteIndex(options: SqliteIndexOptions): Promise<SearchIndex> {
  const { path, dimensions, fingerprint } = options;
  const cache = { bytes: CACHE_BYTES, bytesOfMany: CACHE_BYTES_OF_MANY, ...options.cache };
  const init = { path, space: { dimensions, fingerprint }, cache };
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
    search: async (queries) => hitsOf(queries, await readers.search(queries)),
    vectors: (names) => read('vectors', names),
    forget: async (of) => {
      const gone = await write('forget', of);
      await readers.drop(of);
      return gone;
    },
    compact: () => write('compact'),
    clear: () => write('clear'),
    count: (tenant, shelf = 'memories') => read('count', tenant, shelf),
    page: async (after, limit) => {
      const { points, next } = await read('page', after, limit);
      return { points: points.map(({ payload, place }) => shownFrom(JSON.parse(payload) as Kept, place)), next };
    },
    close: async () => {
      await Promise.all([writing.close(), readers.close()]);
    },
  };
}

const start = (init: IndexThreadInit): Promise<Thread> => startThread(INDEX_THREAD, init);

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

type Read = ReturnType<typeof callsTo<ReaderMethods>>;
type Found = Awaited<ReturnType<ReaderMethods['search']>>;

/** The threads that read. */
interface Readers {
  /** The one that is always there. */
  readonly first: Read;
  search(queries: readonly IndexQuery[]): Promise<Found>;
  drop(of: Parameters<ReaderMethods['drop']>[0]): Promise<void>;
  close(): Promise<void>;
}

interface Reader {
  readonly thread: Thread;
  readonly read: Read;
  /** Questions that it has not answered yet. */
  busy: number;
}

/** While one looks at an owner with very much, the other answers; more than cores to spare would only wait. */
const READERS_MAX = 2;

/** One reader, and a second one from the first moment on when a search finds it busy. */
function readersOf(first: Thread, path: string, start: () => Promise<Thread>): Readers {
  const readers: Reader[] = [readerOf(first, path)];
  let starting: Promise<void> | null = null;
  const startAnother = async (): Promise<void> => {
    // What does not start is not missed: the first one goes on.
    const thread = await start().catch(() => null);
    if (thread !== null) readers.push(readerOf(thread, path));
  };
  const idlest = (query: IndexQuery | undefined): Reader | undefined => {
    const least = Math.min(...readers.map(({ busy }) => busy));
    if (least > 0 && readers.length < READERS_MAX) starting ??= startAnother();
    const home = readers[homeOf(query, readers.length)];
    return home?.busy === least ? home : readers.find(({ busy }) => busy === least);
  };
  return {
    first: callsTo<ReaderMethods>(first, path),
    search: async (queries) => {
      const reader = idlest(queries[0]);
      return reader === undefined ? [] : answered(reader, queries);
    },
    drop: async (of) => {
      await starting;
      await Promise.all(readers.map(({ read }) => read('drop', of)));
    },
    close: async () => {
      await starting;
      await Promise.all(readers.map(({ thread }) => thread.close()));
    },
  };
}

const readerOf = (thread: Thread, path: string): Reader => ({
  thread,
  read: callsTo<ReaderMethods>(thread, path),
  busy: 0,
});

async function answered(reader: Reader, queries: readonly IndexQuery[]): Promise<Found> {
  reader.busy += queries.length;
  try {
    return await reader.read('search', queries);
  } finally {
    reader.busy -= queries.length;
  }
}

/** The same for every question of an owner, so that it is in the memory of one reader and not of both. */
function homeOf(query: IndexQuery | undefined, readers: number): number {
  let sum = 0;
  for (const character of query?.owner.id ?? '') sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % readers;
}

/** A new index beside the one in use, in its file. Other processes may have it open. */
export async function openSqliteBuild({
  path,
  dimensions,
  fingerprint,
}: IndexSpace & { readonly path: string }): Promise<IndexBuild & { close(): Promise<void> }> {
  const init: IndexThreadInit = {
    role: 'builder',
    path,
    space: { dimensions, fingerprint },
    cache: { bytes: 0, bytesOfMany: 0 },
  };
  const thread = await start(init);
  const call = callsTo<BuildMethods>(thread, path);
  return {
    begun: (ledgerId) => call('begun', ledgerId),
    begin: (note) => call('begin', note),
    write: (points) => call('write', points),
    forget: (of) => call('forget', of),
    withdraw: (withdrawals) => call('withdraw', withdrawals),
    note: (note) => call('note', note),
    takeOver: () => call('takeOver'),
    finish: (marker) => call('finish', marker),
    close: () => thread.close(),
  };
}

const INDEX_THREAD = new URL('./index-thread.ts', import.meta.url);

type Method = (...args: never[]) => unknown;
type Call<Methods> = <Name extends keyof Methods & string>(
  name: Name,
  ...args: Methods[Name] extends Method ? Parameters<Methods[Name]> : never
) => Promise<Methods[Name] extends Method ? Awaited<ReturnType<Methods[Name]>> : never>;

/** The thread sends EngineErrors; anything else says that the thread itself is gone. */
export function callsTo<Methods>(thread: Thread, place: string): Call<Methods> {
  return async (name, ...args) => {
    try {
      return await thread.call(name, ...args);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError(
        `the index ${place} is closed in this process, or its thread has died; restart the process`,
        {
          code: 'index_unavailable',
          retryable: true,
          cause: error,
        },
      );
    }
  };
}

/** What was found for each of these questions, as it is shown. */
export const hitsOf = (
  queries: readonly IndexQuery[],
  found: readonly FoundPoints[],
): readonly (readonly IndexHit[])[] =>
  queries.map((query, i) => {
    const points = found[i];
    return points === undefined ? [] : hitsIn(points, query);
  });

function hitsIn(found: FoundPoints, { shelf, tenant, lane, owner }: IndexQuery): readonly IndexHit[] {
  const { payloads, versions, live, vectorScores, keywordScores } = found;
  const kept = JSON.parse(payloads) as readonly Kept[];
  return found.memoryIds.map((memoryId, i) => {
    const point = { memoryId, version: versions[i] as number, live: live[i] as boolean };
    return {
      point: shownFrom(kept[i] as Kept, { ...point, shelf, tenant, lane, owner }),
      vectorScore: vectorScores[i] ?? null,
      keywordScore: keywordScores[i] ?? null,
    };
  });
}
