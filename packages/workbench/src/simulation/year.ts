import { BYTES, MEASURES } from '@slowwave/engine';
import {
  firstRanges,
  type PlannedHandover,
  planAdd,
  planRebalance,
  SLOTS,
  type SlotRange,
  type SlotRun,
  withGiven,
} from '@slowwave/engine/cells';
import { seededRandom } from '../chaos/random.ts';

export interface YearOptions {
  readonly seed: string;
  readonly cells: number;
  /** What a cell is meant for. */
  readonly owners: number;
  /** New owners in a month, compared with those that are there. */
  readonly growth: number;
  /** Exchanges of an owner in a day. */
  readonly perDay: number;
  readonly dimensions: number;
}

interface Month {
  readonly owners: number;
  readonly cells: number;
  readonly moved: number;
  /** The fullest cell compared with the mean, by owners and by what they said. */
  readonly fullest: { readonly owners: number; readonly exchanges: number };
  readonly ranges: number;
}

export type Year = ReturnType<typeof simulateYear>;

const MONTHS = 12;
const DAYS_OF_MONTH = 30;
/** A cell is added when the others have so much more than they are meant for. */
const FULL = 1.1;

/** Every day some come, and as soon as cells are full another one is added; once a month slots go to where there is less. */
export function simulateYear({ seed, cells: first, owners: meant, growth, perDay, dimensions }: YearOptions) {
  const random = seededRandom(`${seed} year`);
  const owners = new Float64Array(SLOTS);
  const exchanges = new Float64Array(SLOTS);
  const moved = { owners: 0, exchanges: 0, mostAtOnce: 0 };
  const open: string[] = [];
  let ranges: readonly SlotRange[] = [];
  let count = 0;

  const loadsOf = (list: Slots): ReadonlyMap<string, number> => {
    const loads = new Map(open.map((cell) => [cell, 0]));
    for (const range of ranges) loads.set(range.cell, (loads.get(range.cell) ?? 0) + sumOf(list, range));
    return loads;
  };
  const hand = (handovers: readonly PlannedHandover[]): void => {
    for (const one of handovers) {
      moved.owners += sumOf(owners, one);
      moved.exchanges += sumOf(exchanges, one);
      moved.mostAtOnce = Math.max(moved.mostAtOnce, sumOf(owners, one));
      ranges = withGiven(ranges, one, one.destination);
    }
  };
  const addCell = (): void => {
    const name = `cell-${open.length + 1}`;
    if (open.length === 0) ranges = firstRanges(name);
    else hand(planAdd({ ranges, open }, name));
    open.push(name);
  };
  const come = (): void => {
    add(owners, random.between(0, SLOTS - 1), 1);
    count += 1;
  };
  const talk = (days: number): void => {
    for (let slot = 0; slot < SLOTS; slot += 1) add(exchanges, slot, (owners[slot] ?? 0) * perDay * days);
  };
  const pass = (): void => {
    for (let left = Math.round(count * ((1 + growth) ** (1 / DAYS_OF_MONTH) - 1)); left > 0; left -= 1) come();
    talk(1);
    while (count / open.length > meant * FULL) addCell();
  };

  for (let n = 0; n < first; n += 1) addCell();
  while (count < first * meant) come();
  talk(SAID_DAYS);
  const months: Month[] = [];
  for (let month = 0; month < MONTHS; month += 1) {
    const before = moved.owners;
    for (let day = 0; day < DAYS_OF_MONTH; day += 1) pass();
    hand(planRebalance({ ranges, open }, loadsOf(owners)));
    months.push({
      ...{ owners: count, cells: open.length, moved: moved.owners - before, ranges: ranges.length },
      fullest: { owners: fullestOf(loadsOf(owners)), exchanges: fullestOf(loadsOf(exchanges)) },
    });
  }
  const { base, perDimension } = BYTES.postgres.ledger;
  const added = (months.at(-1)?.cells ?? 0) - (months.at(-2)?.cells ?? 0);
  const said = sumOf(exchanges, { from: 0, to: SLOTS - 1 }) - first * meant * perDay * SAID_DAYS;
  return {
    months,
    ...moved,
    came: count - first * meant,
    daysBetween: DAYS_OF_MONTH / Math.max(1, added),
    /** Processor time of moving, compared with that of all that was said in the year. */
    share: (moved.exchanges * MEASURES.moveMs.value) / (said * MEASURES.consolidateMs.value),
    bytes: moved.exchanges * (base + perDimension * dimensions),
    cpuHours: (moved.exchanges * MEASURES.moveMs.value) / HOUR_MS,
  };
}

/** How long the first owners have talked when the year begins. */
const SAID_DAYS = 90;
const HOUR_MS = 3_600_000;

/** A number for each slot. */
type Slots = Float64Array;

function add(list: Slots, slot: number, more: number): void {
  list[slot] = (list[slot] ?? 0) + more;
}

const sumOf = (list: Slots, { from, to }: SlotRun): number =>
  list.subarray(from, to + 1).reduce((sum, one) => sum + one, 0);

/** The largest compared with the mean. */
function fullestOf(loads: ReadonlyMap<string, number>): number {
  const all = [...loads.values()];
  return Math.max(...all) / (all.reduce((sum, one) => sum + one, 0) / all.length);
}
