import { statSync } from 'node:fs';
import { EngineError } from '@slowwave/engine/storing';

/**
 * Makes a check that a path still leads to the file it leads to now. Whoever has a file open can go on writing to it after it
 * was removed, with its folder or for another one: nothing would say that, and a restart would find none of it.
 */
export function sameFile(path: string): () => void {
  const opened = idOf(path);
  return () => {
    const now = idOf(path);
    if (opened === null || now === opened) return;
    const what = now === null ? 'was removed' : 'was replaced by another file';
    throw new EngineError(
      `the ledger file ${path} ${what} while this process had it open: nothing is accepted any more, for it would be lost. ` +
        'Stop the process, put the data folder back (or restore a backup: slowwave restore), and start again',
      { code: 'ledger_unavailable', retryable: true, countsAsTry: false },
    );
  };
}

/** The file behind a path, whatever it is called; null: there is none. Takes microseconds. */
function idOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}
