import { type CellAsker, cellAsker, httpPeers, openDirectory } from '@slowwave/adapters/cells';
import { NO_DIRECTORY } from '@slowwave/adapters/config';
import { systemTools } from '@slowwave/adapters/system';
import type { Log } from '@slowwave/engine';
import { type CellDirectory, type CellPeers, type DirectoryBook, directoryBook, isLost } from '@slowwave/engine/cells';
import type { Call } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { quietLog } from '../stores.ts';

/** The directory and the cells, while a command runs. */
export interface Cells {
  readonly directory: CellDirectory;
  readonly peers: CellPeers;
  readonly ask: CellAsker['ask'];
  readonly apiKey: string | null;
  readonly log: Log;
  /** As it is now. */
  book(): Promise<DirectoryBook>;
}

export async function withCells<T>({ config }: Call, work: (cells: Cells) => Promise<T>): Promise<T> {
  if (config.directory === null) throw new CommandError(NO_DIRECTORY, EXIT.misused);
  const log = await quietLog(config);
  const directory = await openDirectory(config.directory, log);
  const book = async (): Promise<DirectoryBook> => {
    const read = directoryBook();
    read.apply(await directory.changes(0));
    return read;
  };
  const urlOf = async (name: string): Promise<string | null> => (await book()).cell(name)?.url ?? null;
  const asker = cellAsker({ urlOf, apiKey: config.apiKey });
  try {
    const peers = httpPeers(asker.ask, systemTools);
    return await work({ directory, peers, ask: asker.ask, apiKey: config.apiKey, log, book });
  } finally {
    await asker.close();
    await directory.close();
  }
}

export function named(book: DirectoryBook, name: string): string {
  const cell = book.cell(name);
  if (cell !== null && isLost(cell)) throw new CommandError(`${name} is lost; ${FOR_GOOD}`, EXIT.failed);
  if (cell !== null) return name;
  const known = book.cells().map((cell) => cell.name);
  throw new UsageError(`expected one of the cells ${known.join(', ') || '(there are none)'}, got "${name}"`, 'cells');
}

/** What to do instead of using a lost cell. */
const FOR_GOOD = 'its name cannot be reused: start with an empty folder or database and another name';

/** What a plan may change: what lost cells have stays theirs. */
export const layoutOf = (book: DirectoryBook) => ({
  ranges: book.ranges().filter(({ cell }) => book.cells().some(({ name }) => name === cell)),
  open: book
    .cells()
    .filter(({ state }) => state === 'open')
    .map(({ name }) => name),
});

export const OK = 200;
