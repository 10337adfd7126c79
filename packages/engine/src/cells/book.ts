import { bitsOfKey } from '../ids.ts';
import type { Owner, TenantId } from '../words.ts';

/** A whole installation of Slowwave, with a ledger, queues and an index of its own. */
export interface Cell {
  readonly name: string;
  /** Where it answers. */
  readonly url: string;
  /**
   * open: it may get owners. draining: it is losing them. lost: it is no more, and its owners are with it. left_behind: the same, and whoever
   * was in it begins anew elsewhere. A lost cell stays lost: should it come back, it is told so.
   */
  readonly state: CellState;
}
const CELL_STATES = ['open', 'draining', 'lost', 'left_behind'] as const;
export type CellState = (typeof CELL_STATES)[number];

export const isLost = ({ state }: Pick<Cell, 'state'>): boolean => state === 'lost' || state === 'left_behind';

/** An owner, and its key (engine/src/ids.ts), which begins with its slot. */
export interface PlacedOwner {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly key: string;
}

/** An owner that is not, or not for sure, in the cell of its slot. Its id is not kept: who is erased leaves no name behind. */
interface Exception {
  readonly key: string;
  /** null: it is where its slot is, again. */
  readonly cell: string | null;
}

/** What is tenant-wide is changed in one cell, and copied to the others. */
export interface TenantPlace {
  readonly tenant: TenantId;
  readonly home: string;
  /** Goes up with each change of what is tenant-wide. */
  readonly epoch: number;
}

/** What a directory says since an epoch. Cells and ranges come whole, or not at all if nothing about them changed. */
export interface DirectoryChanges {
  readonly epoch: number;
  /** In the order in which they were added: the first that is not lost is the home of tenants that have no other. */
  readonly cells: readonly Cell[] | null;
  readonly ranges: readonly SlotRange[] | null;
  readonly exceptions: readonly Exception[];
  readonly tenants: readonly TenantPlace[];
}

/** A copy of the directory as a router keeps it: where everybody is, as of an epoch. */
export interface DirectoryBook {
  epoch(): number;
  /** Those that are not lost. */
  cells(): readonly Cell[];
  lost(): readonly Cell[];
  /** Also one that is lost. */
  cell(name: string): Cell | null;
  ranges(): readonly SlotRange[];
  /** The only cell that may have an owner, by its key. */
  cellOf(key: string): string;
  /** The cells in which an owner of a slot can be: that of the slot first, then those of exceptions. */
  cellsOf(slot: number): readonly string[];
  /** null: it is in no cell yet, since there is none. */
  homeOf(tenant: TenantId): TenantPlace | null;
  apply(changes: DirectoryChanges): void;
}

export function directoryBook(): DirectoryBook {
  let [epoch, ranges]: [number, readonly SlotRange[]] = [0, []];
  let [all, living]: [readonly Cell[], readonly Cell[]] = [[], []];
  const exceptions = exceptionMap();
  const tenants = new Map<TenantId, TenantPlace>();
  const cellOfSlot = (slot: number): string => rangeAt(ranges, slot).cell;
  return {
    epoch: () => epoch,
    cells: () => living,
    lost: () => all.filter(isLost),
    ranges: () => ranges,
    cell: (name) => all.find((cell) => cell.name === name) ?? null,
    cellOf: (key) => exceptions.get(key) ?? cellOfSlot(bitsOfKey(key)),
    cellsOf: (slot) => [...new Set([cellOfSlot(slot), ...exceptions.cellsOf(slot)])],
    homeOf: (tenant) => {
      const [first] = living;
      return tenants.get(tenant) ?? (first === undefined ? null : { tenant, home: first.name, epoch: 0 });
    },
    apply: (changes) => {
      // Answers may overtake each other.
      if (changes.epoch < epoch) return;
      epoch = changes.epoch;
      all = changes.cells ?? all;
      living = all.filter((cell) => !isLost(cell));
      ranges = changes.ranges ?? ranges;
      for (const exception of changes.exceptions) exceptions.put(exception);
      for (const place of changes.tenants) tenants.set(place.tenant, place);
    },
  };
}

/** The first cell has all slots. */
export const firstRanges = (cell: string): readonly SlotRange[] => [{ ...ALL_SLOTS, cell }];

function exceptionMap() {
  const bySlot = new Map<number, Map<string, string>>();
  return {
    get: (key: string): string | null => bySlot.get(bitsOfKey(key))?.get(key) ?? null,
    cellsOf: (slot: number): readonly string[] => [...new Set(bySlot.get(slot)?.values() ?? [])],
    put: ({ key, cell }: Exception): void => {
      const slot = bitsOfKey(key);
      const there = bySlot.get(slot) ?? new Map<string, string>();
      if (cell === null) there.delete(key);
      else there.set(key, cell);
      if (there.size > 0) bySlot.set(slot, there);
      else bySlot.delete(slot);
    },
  };
}

/**
 * Which cell a new owner belongs to. The 16 bits of its hash are its slot, and runs of slots belong to cells: every slot to
 * exactly one, so that nobody has to keep a list of owners.
 */
export const SLOTS = 65_536;

/** Slots next to each other; both ends are included. */
export interface SlotRun {
  readonly from: number;
  readonly to: number;
}

/** A run of slots that belong to one cell. */
export interface SlotRange extends SlotRun {
  readonly cell: string;
}

export const ALL_SLOTS: SlotRun = { from: 0, to: SLOTS - 1 };

export const widthOf = ({ from, to }: SlotRun): number => to - from + 1;

export const isWithin = (slot: number, { from, to }: SlotRun): boolean => from <= slot && slot <= to;

/** The range of a slot, in ranges that are in order and cover all slots. */
export function rangeAt(ranges: readonly SlotRange[], slot: number): SlotRange {
  let [low, high] = [0, ranges.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.to ?? 0) < slot) low = middle + 1;
    else high = middle;
  }
  const found = ranges[low];
  if (found === undefined || !isWithin(slot, found)) {
    throw new Error(`expected ranges that cover all ${SLOTS} slots, got none for slot ${slot}`);
  }
  return found;
}

/** The ranges after a run of slots went to a cell. Neighbours of one cell become one range. */
export function withGiven(ranges: readonly SlotRange[], run: SlotRun, cell: string): readonly SlotRange[] {
  const kept = ranges.flatMap((range) => withoutRun(range, run).map((rest) => ({ ...rest, cell: range.cell })));
  return joined([...kept, { from: run.from, to: run.to, cell }].sort((a, b) => a.from - b.from));
}

/** What is left of a run without another: none, one or two pieces. */
const withoutRun = (run: SlotRun, other: SlotRun): readonly SlotRun[] =>
  [
    { from: run.from, to: Math.min(run.to, other.from - 1) },
    { from: Math.max(run.from, other.to + 1), to: run.to },
  ].filter((rest) => widthOf(rest) > 0);

/** Without the runs given, whatever they overlap. */
export const withoutRuns = (runs: readonly SlotRun[], others: readonly SlotRun[]): readonly SlotRun[] =>
  others.reduce<readonly SlotRun[]>((left, other) => left.flatMap((run) => withoutRun(run, other)), runs);

function joined(ranges: readonly SlotRange[]): readonly SlotRange[] {
  const result: SlotRange[] = [];
  for (const range of ranges) {
    const last = result.at(-1);
    if (last?.cell === range.cell && last.to + 1 === range.from) result[result.length - 1] = { ...last, to: range.to };
    else result.push(range);
  }
  return result;
}

/** How many slots each of the cells has. */
export function widthsOf(ranges: readonly SlotRange[], cells: readonly string[]): ReadonlyMap<string, number> {
  const widths = new Map(cells.map((cell) => [cell, 0]));
  for (const range of ranges) widths.set(range.cell, (widths.get(range.cell) ?? 0) + widthOf(range));
  return widths;
}
