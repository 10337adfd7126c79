import { setTimeout as sleep } from 'node:timers/promises';
import type { CellPeers, DirectoryBook } from '@slowwave/engine/cells';

/** How often a lost cell is looked for: nobody sends it anything, but callers may still have its own address. */
const EVERY_MS = 2_000;

/** Tells each cell that was given up for lost so, should it come back: it keeps that, and serves nobody from then on. */
export function tellTheLost({
  book,
  peers,
}: {
  readonly book: DirectoryBook;
  readonly peers: Pick<CellPeers, 'tellLoss'>;
}) {
  const stopping = new AbortController();
  const telling = (async () => {
    while (!stopping.signal.aborted) {
      const tell = ({ name }: { readonly name: string }) => peers.tellLoss(name, { lost: name, anew: false });
      await Promise.allSettled(book.lost().map(tell));
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    close: async (): Promise<void> => {
      stopping.abort();
      await telling;
    },
  };
}
