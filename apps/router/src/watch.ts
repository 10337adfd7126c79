import { setTimeout as sleep } from 'node:timers/promises';
import { clockOf } from '@slowwave/adapters/cells';
import type { Log, Millis } from '@slowwave/engine';
import { type CellDirectory, type DirectoryBook, directoryBook } from '@slowwave/engine/cells';

/** A copy of the directory that keeps up with it. */
export interface Watched {
  readonly book: DirectoryBook;
  /** Asks for what changed now. Several that ask at once share an answer that was asked for after each of them did. */
  refresh(): Promise<void>;
  /** By the clock of the directory, whatever the own one says, also after it was set. */
  now(): Millis;
  /** Since when the directory was not reached, in ms; 0: it was. */
  silentMs(): number;
  close(): Promise<void>;
}

/** How far a router may be behind while nothing tells it. */
const EVERY_MS = 1_000;

export async function watchDirectory(directory: CellDirectory, log: Log): Promise<Watched> {
  const book = directoryBook();
  let reachedAt = performance.now();
  let now = await clockOf(directory);
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const ask = async (): Promise<void> => {
    const [changes, clock] = await Promise.all([directory.changes(book.epoch()), clockOf(directory)]);
    book.apply(changes);
    now = clock;
    reachedAt = performance.now();
  };
  const refresh = (): Promise<void> => {
    if (running === null) {
      running = ask().finally(() => {
        running = null;
      });
      return running;
    }
    // What runs may have been asked before the change.
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return refresh();
      });
    return next;
  };
  await refresh();
  const watching = repeatedly(EVERY_MS, () =>
    refresh().catch((error: unknown) => log.warn({ err: error }, 'the directory of cells is unavailable')),
  );
  return {
    book,
    refresh,
    now: () => now(),
    silentMs: () => Math.max(0, performance.now() - reachedAt - EVERY_MS * 2),
    close: watching.close,
  };
}

export interface Repeated {
  /** Resolves once the work under way has ended. */
  close(): Promise<void>;
}

/** Work that never fails, now and again and again, with pauses. */
export function repeatedly(everyMs: number, work: () => Promise<void>): Repeated {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await work();
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
