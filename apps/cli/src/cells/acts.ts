import { cellAsker, overviewOfCells, problemOf, sizeOfCell } from '@slowwave/adapters/cells';
import { systemTools } from '@slowwave/adapters/system';
import type { CellsView, CellView } from '@slowwave/contracts';
import { bitsOfKey, type Owner, ownerKeyOf, type TenantId } from '@slowwave/engine';
import {
  ALL_SLOTS,
  type Cell,
  type CellDirectory,
  type DirectoryBook,
  isLost,
  type NewHome,
  type PlacedOwner,
  type PlannedHandover,
  planAdd,
  planDrain,
  planRebalance,
  rangeAt,
  SLOTS,
  type SlotRun,
} from '@slowwave/engine/cells';
import { type Call, OptionError, ownerOf } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { type Columns, table } from '../output.ts';
import {
  type Cells,
  handOver,
  isGivenUp,
  layoutOf,
  MOVES_SHOWN,
  moveHome,
  named,
  OK,
  whyStays,
  withCells,
  worked,
} from './work.ts';

export const listCells = (call: Call) =>
  withCells(call, async ({ ask, book, directory }) => {
    const view = await overviewOfCells({ directory, book: await book(), ask, movesShown: MOVES_SHOWN });
    const { cells, moves, handovers } = view;
    const text = [
      cells.length === 0 ? 'There are no cells yet. Add one with slowwave cells add NAME URL' : table(COLUMNS, cells),
      underWay(moves.counts, handovers.length),
      ...moves.oldest.filter(isGivenUp).map(whyStays),
    ].join('\n');
    return { value: view, text };
  });

function underWay({ given_up: _, ...open }: CellsView['moves']['counts'], handovers: number): string {
  const owners = Object.entries(open).flatMap(([state, count]) =>
    count === 0 ? [] : [`${count} ${state.replace('_', ' ')}`],
  );
  if (owners.length + handovers === 0) return 'Nothing is being moved.';
  const moving = owners.length === 0 ? [] : [`Owners being moved: ${owners.join(', ')}.`];
  return [...moving, ...(handovers === 0 ? [] : [`Slot ranges being moved: ${handovers}.`])].join(' ');
}

type CellRow = CellsView['cells'][number];

const COLUMNS: Columns<CellRow> = {
  cell: 'name',
  state: ({ state, answers }) => (answers ? state : `${state}, does not respond`),
  slots: ({ slots }) => percentOf(slots),
  owners: 'owners',
  memories: 'memories',
  url: 'url',
};

const percentOf = (slots: number): string => `${((slots / SLOTS) * 100).toFixed(1)}%`;

export const addCell = (call: Call) =>
  withCells(call, async (cells) => {
    const [name = '', url = ''] = call.given.words;
    const share = shareIn(call);
    const before = await cells.book();
    if (before.cell(name) === null) await addEmpty(cells, { name, url });
    // One that was being drained stays after all.
    else await cells.directory.changeCell(named(before, name), { url, state: 'open' });
    const book = await cells.book();
    if (book.cells().length === 1) return worked(call, cells, `${name} is the first cell and has all owners.`);
    const isWhole = await handOver(cells, planAdd(layoutOf(book), name, share));
    return worked(call, cells, isWhole ? `${name} has its share of the slots and their owners.` : null);
  });

function shareIn({ given }: Call): number | undefined {
  const text = given.text('share');
  if (text === null) return;
  const share = Number(text);
  if (!(share >= 0 && share <= 1)) throw new OptionError('share', 'a number from 0 to 1', text);
  return share;
}

/** A cell that has owners of its own would have some twice. */
async function addEmpty(cells: Cells, { name, url }: Pick<Cell, 'name' | 'url'>): Promise<void> {
  const { directory, peers, apiKey, book } = cells;
  const asker = cellAsker({ urlOf: async () => url, apiKey });
  try {
    const answer = await asker.ask(name, { method: 'GET', path: '/v1/cell' });
    if (answer.status !== OK) throw new CommandError(`${url} is not a cell: ${problemOf(answer).detail}`, EXIT.failed);
    const view = answer.body as CellView;
    if (view.name !== name) throw new CommandError(`${OTHER_NAME}: expected ${name}, got ${view.name}`, EXIT.failed);
    const isFirst = (await book()).cells().length === 0;
    if (!isFirst && view.owners > 0) throw new CommandError(`${NOT_EMPTY}, got ${view.owners} owners`, EXIT.failed);
  } finally {
    await asker.close();
  }
  await directory.addCell({ name, url });
  await peers.tellSlots(name, await directory.slotsOf(name));
}

const OTHER_NAME = 'the cell has another name; use it, or change SLOWWAVE_CELL there';
const NOT_EMPTY =
  'expected a cell without owners; export them, start it with an empty folder or database, and import them through the router';

export const moveToCell = (call: Call) =>
  withCells(call, async (cells) => {
    const book = await cells.book();
    const destination = named(book, call.given.text('to') ?? '');
    const slots = call.given.text('slots');
    if (slots === null) {
      const { kind, id } = await askToMove(call, cells, destination);
      return worked(call, cells, `${kind} ${id} is in ${destination}.`);
    }
    const isWhole = await handOver(cells, pieces(book, slotsIn(slots), destination));
    return worked(call, cells, isWhole ? `The slots ${slots} and their owners are in ${destination}.` : null);
  });

async function askToMove({ given }: Call, cells: Cells, destination: string): Promise<Owner> {
  const { directory } = cells;
  if (['user', 'agent', 'run'].every((name) => given.text(name) === null))
    throw new UsageError('expected an owner (--user, --agent or --run) or --slots, got neither', 'cells move');
  const [[field = '', id = ''] = []] = Object.entries(ownerOf(given));
  const owner = { kind: field.replace('_id', '') as Owner['kind'], id };
  const owned = { tenant: (given.text('tenant') ?? 'default') as TenantId, owner };
  const key = ownerKeyOf(systemTools, owned);
  await refuseUnknown(cells, owned, key);
  await directory.askMoves([{ ...owned, key, destination, moveId: systemTools.id('mov') }]);
  return owner;
}

/** A cell that does not answer may have the owner: the move waits for it. */
async function refuseUnknown(
  { ask, book }: Cells,
  { tenant, owner }: Omit<PlacedOwner, 'key'>,
  key: string,
): Promise<void> {
  const cell = (await book()).cellOf(key);
  const named = { tenant, kind: owner.kind, id: owner.id };
  const asked = { method: 'POST', path: '/v1/cell/leaving', body: { ...named, ms: 0 } } as const;
  const here = await ask(cell, asked).catch(() => null);
  if (here?.status !== NOT_FOUND) return;
  // It may be on its way between two cells.
  const gone = await ask(cell, { method: 'GET', path: '/v1/cell/departures', query: named });
  if (gone.status === NOT_FOUND)
    throw new CommandError(`there is no ${owner.kind} ${owner.id} in ${cell}`, EXIT.notFound);
}

const NOT_FOUND = 404;

function slotsIn(text: string): SlotRun {
  const [from = Number.NaN, to = from] = text.split('-').map(Number);
  const isRun = Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to < SLOTS;
  if (!isRun) throw new OptionError('slots', `slots from 0 to ${SLOTS - 1}, like 0-255`, text);
  return { from, to };
}

/** Slots of several cells, each from whoever has them. */
const pieces = (book: DirectoryBook, run: SlotRun, destination: string): readonly PlannedHandover[] =>
  layoutOf(book)
    .ranges.map(({ from, to, cell }) => ({
      from: Math.max(from, run.from),
      to: Math.min(to, run.to),
      source: cell,
      destination,
    }))
    .filter(({ from, to, source }) => from <= to && source !== destination);

export const drainCell = (call: Call) =>
  withCells(call, async (cells) => {
    const { directory } = cells;
    const name = named(await cells.book(), call.given.words[0] ?? '');
    await directory.changeCell(name, { state: 'draining' });
    const isWhole = await handOver(cells, planDrain(layoutOf(await cells.book()), name));
    const done = await worked(call, cells, isWhole ? '' : null);
    if (call.given.flag('later') || !isWhole) return done;
    await moveRest(cells, name);
    const rest = await worked(
      call,
      cells,
      `${name} is empty. Remove it from the directory with slowwave cells remove ${name}.`,
    );
    await moveHomes(cells, name);
    return rest;
  });

/** Owners whom an exception keeps in the cell go where their slots are. */
async function moveRest({ directory, peers, book }: Cells, name: string): Promise<void> {
  const ranges = (await book()).ranges();
  const owners: readonly PlacedOwner[] = await peers.ownersIn(name, ALL_SLOTS);
  await directory.askMoves(
    owners.map((owner) => ({
      ...{ ...owner, destination: rangeAt(ranges, bitsOfKey(owner.key)).cell, moveId: systemTools.id('mov') },
    })),
  );
}

async function moveHomes(cells: Cells, name: string): Promise<void> {
  const book = await cells.book();
  const next = book.cells().find((cell) => cell.name !== name && cell.state === 'open');
  if (next === undefined) return;
  const known = await cells.directory.tenants();
  const seen = new Set<string>(['default', ...known.map(({ tenant }) => tenant)]);
  for (const cell of book.cells()) {
    for (const { tenant } of await cells.peers.ownersIn(cell.name, ALL_SLOTS)) seen.add(tenant);
  }
  for (const tenant of seen) {
    if (book.homeOf(tenant as TenantId)?.home === name) await moveHome(cells, tenant as TenantId, next.name);
  }
}

export const rebalanceCells = (call: Call) =>
  withCells(call, async (cells) => {
    const book = await cells.book();
    const layout = layoutOf(book);
    const sizes = await Promise.all(
      book.cells().map(async (cell) => [cell.name, await sizeOfCell(cells.ask, cell)] as const),
    );
    const silent = sizes.filter(([, { answers }]) => !answers).map(([name]) => name);
    if (silent.length > 0) throw new CommandError(`these cells do not respond: ${silent.join(', ')}`, EXIT.unavailable);
    const loads = new Map(sizes.map(([name, { memories }]) => [name, memories ?? 0]));
    const plan = planRebalance(layout, loads);
    if (plan.length === 0)
      return worked(call, cells, 'All cells already have about the same number of memories; nothing was moved.');
    const isWhole = await handOver(cells, plan);
    return worked(call, cells, isWhole ? 'All cells now have about the same number of memories.' : null);
  });

export const changeHome = (call: Call) =>
  withCells(call, async (cells) => {
    const [tenant = '', name = ''] = call.given.words;
    named(await cells.book(), name);
    await moveHome(cells, tenant as TenantId, name);
    return { value: { tenant, home: name }, text: `The home cell of ${tenant} is ${name}.` };
  });

export const removeCell = (call: Call) =>
  withCells(call, async (cells) => {
    const { directory } = cells;
    const name = named(await cells.book(), call.given.words[0] ?? '');
    await forgetErased(cells, name);
    const has = await directory.removeCell(name);
    if (has.length === 0) return { value: { removed: name }, text: `${name} was removed from the directory.` };
    throw new CommandError(
      `${name} still has ${has.join(', ')}; move them with slowwave cells drain ${name}`,
      EXIT.failed,
    );
  });

/** Owners who were moved to the cell, and were erased there, still lead to it. */
async function forgetErased({ book, directory, peers }: Cells, name: string): Promise<void> {
  const before = await book();
  if (before.ranges().some(({ cell }) => cell === name)) return;
  const owners = await peers.ownersIn(name, ALL_SLOTS).catch(() => null);
  if (owners?.length === 0) await directory.vacate(name, null, before.epoch());
}

export const loseCell = (call: Call) =>
  withCells(call, async (cells) => {
    const name = call.given.words[0] ?? '';
    const homes = await givenUp(call, cells, name);
    const done = await worked(call, cells, '');
    const anew = call.given.flag('begin-anew') ? await begunAnew(cells, name) : null;
    const ended = anew === null ? waiting(name) : begun(name, anew);
    const text = [...(done.text === '' ? [] : [done.text]), ...homes.map(saidOf), ended].join('\n');
    return {
      value: { ...done.value, lost: name, homes, begun_anew: anew !== null },
      text,
      exit: done.exit ?? EXIT.done,
    };
  });

const saidOf = ({ tenant, home, isBehind }: NewHome): string =>
  `The home cell of ${tenant} is ${home}${isBehind ? '; it may lack the last change: check its settings and keys' : ''}.`;

const waiting = (name: string): string =>
  `${name} was given up. Requests for its owners get cell_lost until you run slowwave cells lost ${name} --begin-anew.`;

const begun = (name: string, forgotten: number): string =>
  `The slots of ${name} were given to the other cells, and its owners start over${forgotten === 0 ? '' : `, ${forgotten} that had moved there, too`}.`;

async function givenUp({ given }: Call, cells: Cells, name: string): Promise<readonly NewHome[]> {
  const book = await cells.book();
  const cell = book.cell(name);
  if (cell === null) throw new UsageError(`expected the name of a cell, got "${name}"`, 'cells lost');
  if (book.cells().every((one) => one.name === name))
    throw new CommandError(`${name} is the only cell, so no other cell can take its owners`, EXIT.failed);
  if (!isLost(cell)) {
    const { answers } = await sizeOfCell(cells.ask, cell);
    if (answers && !given.flag('force'))
      throw new CommandError(
        `${name} responds: move its owners with slowwave cells drain ${name}, or give it up anyway with --force`,
        EXIT.failed,
      );
  }
  const homes = (await cells.directory.loseCell(name)) ?? [];
  // For their audit logs; and slots that were on their way are told apart anew. Whoever does not answer hears it from routers.
  for (const one of book.cells()) {
    await cells.peers.tellLoss(one.name, { lost: name, anew: false }).catch(() => {});
    if (one.name !== name) await tellSlots(cells, one.name).catch(() => {});
  }
  return homes;
}

const tellSlots = async ({ peers, directory }: Cells, cell: string): Promise<void> =>
  peers.tellSlots(cell, await directory.slotsOf(cell));

/** Every other cell has to hear it first: it would go on to say of owners that they moved to the lost one. */
async function begunAnew(cells: Cells, name: string): Promise<number> {
  const book = await cells.book();
  const others = book.cells().map((cell) => cell.name);
  let forgotten = 0;
  for (const other of others)
    forgotten += await cells.peers.tellLoss(other, { lost: name, anew: true }).catch(unheard(other, name));
  const plan = book.cell(name)?.state === 'lost' ? planDrain({ ...layoutOf(book), ranges: book.ranges() }, name) : [];
  const left: Awaited<ReturnType<CellDirectory['leaveBehind']>> = await cells.directory.leaveBehind(name, plan);
  if (left > 0)
    throw new CommandError(
      `${left} owners are still being moved from ${name}; run this command again when they have arrived`,
      EXIT.failed,
    );
  for (const other of others) await tellSlots(cells, other).catch(unheard(other, name));
  return forgotten;
}

const unheard =
  (cell: string, lost: string) =>
  (error: unknown): never => {
    throw new CommandError(
      `could not tell ${cell} that owners of ${lost} start over: ${error instanceof Error ? error.message : String(error)}; run this again`,
      EXIT.unavailable,
    );
  };
