import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CellAsker,
  cellAsker,
  clockOf,
  httpPeers,
  openDirectory,
  problemOf,
  startMover,
} from '@slowwave/adapters/cells';
import { NO_DIRECTORY } from '@slowwave/adapters/config';
import { systemTools } from '@slowwave/adapters/system';
import type { TenantCopyView } from '@slowwave/contracts';
import type { Log, Owner, TenantId } from '@slowwave/engine';
import {
  type CellDirectory,
  type CellPeers,
  type DirectoryBook,
  directoryBook,
  isLost,
  type OwnerMove,
  type PlannedHandover,
  type TenantPlace,
} from '@slowwave/engine/cells';
import { type Call, countOf } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { tracked } from '../output.ts';
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

/** So many that were given up are shown. */
export const MOVES_SHOWN = 1_000;

/** Asks for slots to change hands, unless some of these cells' already do: they come to an end first. Returns whether all were asked for. */
export async function handOver({ directory }: Cells, plan: readonly PlannedHandover[]): Promise<boolean> {
  const busy = new Set((await directory.handovers()).flatMap(({ source, destination }) => [source, destination]));
  const free = plan.filter(({ source, destination }) => !busy.has(source) && !busy.has(destination));
  await directory.askHandovers(free.map((one) => ({ ...one, id: systemTools.id('hov') })));
  return free.length === plan.length;
}

const BUSY = 'Other slots were being moved, so some moves were not started. Run this command again.';

const LOOK_EVERY_MS = 250;
const CONCURRENCY_USUAL = 4;
const CONCURRENCY_MAX = 64;

/** Moves owners, together with the routers, until nothing is left to be moved. `said`: what is true then; null: not all could be asked for. */
export async function worked(call: Call, { directory, peers, log }: Cells, said: string | null) {
  const { given, out, cancel } = call;
  if (given.flag('later'))
    return { value: { waited: false }, text: 'The routers are moving them; slowwave cells shows the progress.' };
  const concurrency = countOf(given, 'concurrency', { usual: CONCURRENCY_USUAL, max: CONCURRENCY_MAX });
  const tools = { ...systemTools, now: await clockOf(directory) };
  const mover = startMover({ ...{ directory, peers, log, tools }, concurrency, idleMs: LOOK_EVERY_MS });
  const before = new Set((await directory.moves(MOVES_SHOWN)).oldest.filter(isGivenUp).map(({ id }) => id));
  try {
    await tracked(out, { title: 'moving', unit: 'slot ranges and owners' }, async ({ update }) => {
      let most = 0;
      for (let left = await openOf(directory); left > 0; left = await openOf(directory)) {
        most = Math.max(most, left);
        update(most - left, most);
        await sleep(LOOK_EVERY_MS, undefined, { signal: cancel });
      }
      if (most > 0) update(most, most);
    });
  } finally {
    await mover.close();
  }
  const left = (await directory.moves(MOVES_SHOWN)).oldest.filter(isGivenUp);
  const fresh = left.filter(({ id }) => !before.has(id));
  return {
    value: { waited: true, given_up: left.map(({ tenant, owner, why }) => ({ tenant, ...owner, why })) },
    text: fresh.length === 0 ? (said ?? BUSY) : staying(fresh),
    exit: fresh.length === 0 && said !== null ? EXIT.done : EXIT.findings,
  };
}

export const isGivenUp = ({ state }: Pick<OwnerMove, 'state'>): boolean => state === 'given_up';

const NAMED = 10;

/** Names those who could not be moved, and why; of many the first. */
function staying(left: readonly OwnerMove[]): string {
  const lines = left.slice(0, NAMED).map(({ owner, source, why }) => whyStays({ ...owner, source, why }));
  const more = left.length - lines.length;
  return [...lines, ...(more > 0 ? [`And ${more} more; slowwave cells lists them.`] : [])].join('\n');
}

export const whyStays = ({ kind, id, source, why }: Owner & Pick<OwnerMove, 'source' | 'why'>): string =>
  `${kind} ${id} stays in ${source}: ${why ?? 'it could not be moved'}`;

/** Handovers and moves that are not over. */
async function openOf(directory: CellDirectory): Promise<number> {
  const { given_up: _, ...open } = (await directory.moves(0)).counts;
  return Object.values(open).reduce((sum, count) => sum + count, (await directory.handovers()).length);
}

/** So long nothing of a tenant may be changed, if this command is killed in the middle. */
const HOLD_MS = 30_000;
/** Longer than changes take whose routers were killed. */
const CHANGES_OVER_MS = 180_000;

export const OK = 200;

/** What a tenant has in common is copied whole while nobody changes it, and is changed in its new home from then on. */
export async function moveHome(cells: Cells, tenant: TenantId, name: string): Promise<void> {
  const { book, directory } = cells;
  const place = (await book()).homeOf(tenant);
  if (place === null || place.home === name) return;
  for (const deadline = Date.now() + CHANGES_OVER_MS; ; await sleep(LOOK_EVERY_MS)) {
    const now = await directory.now();
    const heldUntil = now + HOLD_MS;
    const underWay = await directory.holdHome(tenant, { until: heldUntil, now });
    if (underWay === 0 && (await copyHome(cells, place, name))) {
      if (await directory.switchHome(tenant, { to: name, heldUntil, now: await directory.now() })) return;
    }
    if (Date.now() > deadline)
      throw new CommandError(
        `${underWay} changes of ${tenant} are still in progress; run this command again`,
        EXIT.unavailable,
      );
  }
}

/** false: it was changed meanwhile, by somebody who asked the cell itself. */
async function copyHome({ ask, book }: Cells, { tenant, home }: TenantPlace, name: string): Promise<boolean> {
  const read = async (): Promise<TenantCopyView> => {
    const answer = await ask(home, { method: 'GET', path: '/v1/cell/tenant', query: { tenant } });
    if (answer.status !== OK) throw new CommandError(`${home}: ${problemOf(answer).detail}`, EXIT.failed);
    return answer.body as TenantCopyView;
  };
  const { version, copy } = await read();
  const epoch = (await book()).homeOf(tenant)?.epoch ?? 0;
  const body = { tenant, epoch, version, copy };
  const answer = await ask(name, { method: 'PUT', path: '/v1/cell/tenant', body });
  if (answer.status !== OK) throw new CommandError(`${name}: ${problemOf(answer).detail}`, EXIT.failed);
  return (await read()).version === version;
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
