import { bitsOfKey } from '@slowwave/engine';
import {
  type CellDirectory,
  type Handover,
  isWithin,
  type PlannedHandover,
  planAdd,
  planDrain,
  type SlotRange,
} from '@slowwave/engine/cells';
import { memoryDirectory } from '@slowwave/engine-testing';
import { seededRandom } from '../chaos/random.ts';
import { startCarrier } from './carriers.ts';
import { type Rule, type SimCell, startCell } from './cell.ts';
import { type Clock, startClock } from './clock.ts';
import { COSTS } from './costs.ts';
import { startFaults } from './faults.ts';
import { startLoad } from './load.ts';
import { nodeOf, openNetwork } from './network.ts';
import { population } from './population.ts';
import { startRouter } from './routers.ts';
import { type Held, type OwnerNo, startTruth } from './truth.ts';

export interface HourOptions {
  readonly seed: string;
  readonly cells: number;
  /** Of each cell. */
  readonly owners: number;
  readonly routers: number;
  readonly carriers: number;
  readonly minutes: number;
  /** Exchanges of an owner in a day. */
  readonly perDay: number;
  /** Owners who come for the first time, a second. */
  readonly newcomers: number;
  /** Owners who talk much, and move much. */
  readonly few: number;
  /** Owners that are moved one by one to any other cell, a minute. */
  readonly singles: number;
  /** Seconds until a few slots go from any cell to any other. */
  readonly slotsEvery: number;
  /** Messages that are lost, and as many that come so late that whoever sent them has sent them again. */
  readonly lost: number;
  /** Seconds between two faults, on average. */
  readonly faultEvery: number;
  /** The rule of a cell that is left out. */
  readonly without: Rule | null;
}

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

export type Hour = Awaited<ReturnType<typeof simulateHour>>;

/**
 * Cells, routers and a directory in the hour of the day in which most is said: a cell is added, another one drained, owners are moved one by one, a
 * cell is lost for good, and something fails all the time. In the last part nothing fails any more, and everything has to come to an end.
 */
export async function simulateHour(options: HourOptions, progress: (text: string) => void = () => {}) {
  const world = await build(options);
  const { clock, network, random, truth, cells, carriers, routers, directory, people } = world;
  const length = options.minutes * MINUTE_MS;
  const load = startLoad(
    { ...world, random: random.fork('load'), owners: people },
    { ...options, ends: length * PARTS.load },
  );
  const faults = startFaults(
    { clock, network, random: random.fork('faults'), directory: directory.node, cells, routers, carriers },
    { everyMs: options.faultEvery * SECOND_MS, ends: length * PARTS.faults },
  );
  const watched = watch(world, length);
  planMoves(world, options, length);
  const lost = loseCell(world, length * PARTS.lost);
  for (let minute = 0; minute < options.minutes; minute += 1) {
    progress(`minute ${minute} of ${options.minutes}`);
    await clock.runUntil((minute + 1) * MINUTE_MS);
  }
  const waiting = await settle(world, lost.name);
  truth.conclude(everybody(world, waiting), people.settled);
  return { world, load, faults, watched, lost: lost.owners(), waiting: waiting.size };
}

/** When things happen, as parts of the time. */
const PARTS = { added: 0.03, drained: 0.35, lost: 0.55, faults: 0.8, load: 0.9 } as const;

async function build(options: HourOptions) {
  const { seed, without } = options;
  const random = seededRandom(seed);
  const clock = startClock();
  const network = openNetwork(clock, random.fork('network'), options.lost);
  const settled = options.cells * options.owners;
  const people = { ...population(settled), settled, few: Math.min(settled, options.few) };
  const truth = startTruth(clock.now);
  const cells = new Map<string, SimCell>();
  const store = memoryDirectory();
  const addCell = async (): Promise<string> => {
    const name = `cell-${cells.size + 1}`;
    cells.set(name, startCell(name, { now: clock.now, slotOf: people.slotOf, truth, without }));
    await store.addCell({ name, url: `http://${name}` });
    return name;
  };
  const directory = { node: nodeOf('directory'), store };
  let ids = 0;
  const newId = (kind: string): string => {
    ids += 1;
    return `${kind}_${ids}`;
  };
  await fillCells({ store, addCell, newId, cells, people }, options.cells);
  const common = { clock, network, directory, cells };
  const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n + 1));
  const routers = times(options.routers, (n) =>
    startRouter(`router-${n}`, {
      ...common,
      random: random.fork(`router ${n}`),
      keyOf: people.keyOf,
      work: { route: COSTS.route, changes: COSTS.directory },
    }),
  );
  const carriers = times(options.carriers, (n) =>
    startCarrier(`carrier-${n}`, {
      ...common,
      ...people,
      newId,
      random: random.fork(`carrier ${n}`),
      work: { small: COSTS.small, directory: COSTS.directory, lines: COSTS.lines(options) },
    }),
  );
  return { ...common, random, truth, people, routers, carriers, addCell, newId };
}

type World = Awaited<ReturnType<typeof build>>;

/** The first cells, as somebody adds them one after the other; nobody is there yet. */
async function fillCells(
  {
    store,
    addCell,
    newId,
    cells,
    people,
  }: Pick<World, 'addCell' | 'newId' | 'cells'> & { store: CellDirectory; people: World['people'] },
  count: number,
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const name = await addCell();
    if (n === 0) continue;
    await store.askHandovers((await planFor(store, planAdd, name)).map((one) => ({ ...one, id: newId('hnd') })));
    for (;;) {
      const [handover] = await store.takeHandovers({ now: 0, leaseMs: 1, limit: 1 });
      if (handover === undefined) break;
      await store.switchSlots({ ...handover, state: 'emptying' }, []);
      await store.endHandover(handover);
    }
  }
  const ranges = (await store.changes(0)).ranges ?? [];
  for (const [name, cell] of cells) cell.tellSlots(await store.slotsOf(name));
  const bySlot = ranges.flatMap((range) => Array<string>(range.to - range.from + 1).fill(range.cell));
  for (let no = 0; no < people.settled; no += 1) cells.get(bySlot[people.slotOf(no)] ?? '')?.settle(no);
}

type Planner = (
  slotted: { ranges: readonly SlotRange[]; open: readonly string[] },
  cell: string,
) => readonly PlannedHandover[];

async function planFor(store: CellDirectory, plan: Planner, cell: string): Promise<readonly PlannedHandover[]> {
  const { cells, ranges } = await store.changes(0);
  const open = (cells ?? []).filter(({ state }) => state === 'open').map(({ name }) => name);
  return plan({ ranges: ranges ?? [], open }, cell);
}

/** A cell is added, the first one drained, and single owners come and go all the time. */
function planMoves(world: World, { singles, slotsEvery }: HourOptions, length: number): void {
  const { clock, directory, addCell, newId, people, cells } = world;
  const random = world.random.fork('moves');
  const { store } = directory;
  const hand = async (plan: Planner, cell: string): Promise<void> => {
    await store.askHandovers((await planFor(store, plan, cell)).map((one) => ({ ...one, id: newId('hnd') })));
  };
  clock.at(length * PARTS.added, () => clock.settle(() => void addCell().then((name) => hand(planAdd, name))));
  clock.at(length * PARTS.drained, () =>
    clock.settle(() => void store.changeCell(DRAINED, { state: 'draining' }).then(() => hand(planDrain, DRAINED))),
  );
  const anybody = (): string => random.pick([...cells.keys()].filter((name) => name !== DRAINED));
  every(clock, { ms: MINUTE_MS / singles, ends: length * PARTS.faults }, () => {
    // Of few, so that many of them move again, and back.
    const placed = people.placed(random.between(0, people.few - 1));
    void store.askMoves([{ ...placed, moveId: newId('mov'), destination: anybody() }]);
  });
  every(clock, { ms: slotsEvery * SECOND_MS, ends: length * PARTS.faults }, () => void handAny(world, anybody));
}

const SLOTS_AT_ONCE = 16;

/** A few slots go from any cell to any other. */
async function handAny({ directory: { store }, random, newId }: World, anybody: () => string): Promise<void> {
  const [source, destination] = [anybody(), anybody()];
  const { ranges } = await store.changes(0);
  const its = (ranges ?? []).filter(({ cell }) => cell === source);
  if (source === destination || its.length === 0) return;
  const { from, to } = random.pick(its);
  const first = random.between(from, to);
  const run = { from: first, to: Math.min(to, first + SLOTS_AT_ONCE - 1) };
  await store.askHandovers([{ ...run, source, destination, id: newId('hnd') }]);
}

const DRAINED = 'cell-1';

/** A cell that never comes back: one that has got owners and may be giving some. */
function loseCell({ clock, network, cells }: World, at: number) {
  const name = `cell-${Math.ceil(cells.size / 2) + 1}`;
  let owners = 0;
  clock.at(at, () => {
    const cell = cells.get(name);
    if (cell === undefined) return;
    cell.node.isLost = true;
    network.kill(cell.node);
    owners = cell.homes().size;
  });
  return { name, owners: () => owners };
}

const SETTLE_MS = 20 * MINUTE_MS;

/** Nothing fails any more: what does not come to an end now, and does not wait for the lost cell, is stuck. Answers with who waits for it. */
async function settle({ clock, directory, truth, people }: World, lost: string): Promise<ReadonlySet<OwnerNo>> {
  const { store } = directory;
  const ends = clock.now() + SETTLE_MS;
  const waits = (one: { source: string; destination: string }): boolean =>
    one.source === lost || one.destination === lost;
  for (;;) {
    const moves = (await store.moves(Number.MAX_SAFE_INTEGER)).oldest.filter(({ state }) => state !== 'given_up');
    const blocked = (run: Handover): boolean =>
      moves.some((one) => waits(one) && one.source === run.source && isWithin(bitsOfKey(one.key), run));
    const handovers = (await store.handovers()).filter((one) => !waits(one) && !blocked(one));
    const open = [...moves.filter((one) => !waits(one)), ...handovers];
    if (open.length === 0 || clock.now() >= ends) {
      for (const { id, state, why } of open) truth.note('stuck', `${id} is ${state}: ${why ?? 'nobody carries it'}`);
      return new Set(moves.filter(waits).map(({ key }) => people.ownerOf(key)));
    }
    await clock.runUntil(clock.now() + MINUTE_MS);
  }
}

/** Who can be seen in any cell; and of those who were on their way from or to the lost one, what lies hidden. */
function* everybody({ cells, truth }: World, waiting: ReadonlySet<OwnerNo>): Iterable<readonly [OwnerNo, Held]> {
  for (const cell of cells.values()) {
    yield* cell.homes();
    for (const [owner, held] of cell.hidden())
      if (waiting.has(owner) && truth.homeOf(owner) === null) yield [owner, held];
  }
}

/** Once a second: how old the routers' copies are, and how much the directory has. */
function watch({ clock, routers, directory }: World, length: number) {
  const seen = { ages: [] as number[], behind: [] as number[], exceptions: 0, ranges: 0 };
  const look = async (): Promise<void> => {
    const { epoch } = await directory.store.changes(Number.MAX_SAFE_INTEGER);
    for (const router of routers) {
      if (!router.node.isUp || router.epoch() === 0) continue;
      seen.ages.push(router.age());
      seen.behind.push(epoch - router.epoch());
    }
  };
  const size = async (): Promise<void> => {
    const { exceptions, ranges } = await directory.store.changes(0);
    seen.exceptions = Math.max(seen.exceptions, exceptions.filter(({ cell }) => cell !== null).length);
    seen.ranges = Math.max(seen.ranges, ranges?.length ?? 0);
  };
  every(clock, { ms: SECOND_MS, ends: length }, () => void look());
  every(clock, { ms: MINUTE_MS / 2, ends: length }, () => void size());
  return seen;
}

function every(clock: Clock, { ms, ends }: { ms: number; ends: number }, what: () => void): void {
  clock.after(ms, () => {
    clock.settle(what);
    if (clock.now() < ends) every(clock, { ms, ends }, what);
  });
}
