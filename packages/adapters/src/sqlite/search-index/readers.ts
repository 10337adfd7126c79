import type { IndexQuery } from '@slowwave/engine';
import type { Thread } from '../../system/index.ts';
import { callsTo } from './calls.ts';
import type { ReaderMethods } from './protocol.ts';

type Read = ReturnType<typeof callsTo<ReaderMethods>>;
type Found = Awaited<ReturnType<ReaderMethods['search']>>;

/** The threads that read. */
export interface Readers {
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
export function readersOf(first: Thread, path: string, start: () => Promise<Thread>): Readers {
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
