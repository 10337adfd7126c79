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
