import type { Handover } from './handover.ts';
import { SLOTS, type SlotRange, type SlotRun, widthOf, widthsOf, withGiven } from './slots.ts';

/**
 * Which slots go from which cell to which. A plan is only about slots: whoever lives in them is moved when they have changed hands, and
 * owners that an exception keeps elsewhere stay where they are.
 */
export type PlannedHandover = Pick<Handover, 'from' | 'to' | 'source' | 'destination'>;

/**
 * Slots that change hands together. All owners in them are exceptions of the directory until they are moved: with a million owners in
 * a cell that has all slots, four thousand at a time.
 */
const SLOTS_AT_ONCE = 256;

/** Differences from the mean that are not worth moving anybody. */
const TOLERANCE = 0.1;

interface Slotted {
  readonly ranges: readonly SlotRange[];
  /** The cells that may take owners. */
  readonly open: readonly string[];
}

/**
 * Cells that a new one gets its slots from. If it were all of them, a hundred cells would have five thousand ranges, which every router
 * reads whole; so those that have most give an eighth of it, and the next cell gets its slots from others.
 */
const GIVERS = 8;

/** A new cell, which may be among the open ones by now, gets its share of all slots, from those that have most, in proportion to what they have. */
export function planAdd(
  { ranges, open }: Slotted,
  cell: string,
  share = 1 / new Set([...open, cell]).size,
): readonly PlannedHandover[] {
  const widths = widthsOf(ranges, open);
  const [has, wanted] = [widths.get(cell) ?? 0, Math.round(share * SLOTS)];
  const others = [...widths].filter(([name]) => name !== cell).sort(([, a], [, b]) => b - a);
  const missing = Math.min(wanted - has, widthIn(others));
  // Somebody who wants a large share gets it from more of them: nobody gives more than half.
  const enough = others.findIndex((_, i) => widthIn(others.slice(0, i + 1)) >= 2 * missing) + 1;
  const givers = others.slice(0, enough === 0 ? others.length : Math.max(GIVERS, enough));
  const parts = missing <= 0 ? [] : inProportion(missing, givers);
  return planned(
    ranges,
    parts.map(([source, count]) => ({ source, destination: cell, count })),
  );
}

/** All slots of a cell go to the others, so that they end up as equal as can be. */
export function planDrain({ ranges, open }: Slotted, cell: string): readonly PlannedHandover[] {
  const takers = new Map([...widthsOf(ranges, open)].filter(([name]) => name !== cell && open.includes(name)));
  const count = widthsOf(ranges, [cell]).get(cell) ?? 0;
  if (count === 0) return [];
  if (takers.size === 0)
    throw new Error(`expected another open cell to take the owners of ${cell}, got none; add a cell first`);
  return planned(
    ranges,
    filled(count, takers).map(([destination, taken]) => ({ source: cell, destination, count: taken })),
  );
}

/**
 * Slots go from cells that have much to those that have little, until all have about the same. `loads`: what each open cell has, such
 * as its memories; it is taken to be spread evenly over the cell's slots.
 */
export function planRebalance(
  { ranges, open }: Slotted,
  loads: ReadonlyMap<string, number>,
): readonly PlannedHandover[] {
  const widths = widthsOf(ranges, open);
  const loadOf = (cell: string): number => loads.get(cell) ?? 0;
  const mean = open.reduce((sum, cell) => sum + loadOf(cell), 0) / open.length;
  if (!open.some((cell) => Math.abs(loadOf(cell) - mean) > mean * TOLERANCE)) return [];
  const lacking = open.filter((cell) => loadOf(cell) < mean).map((cell) => ({ cell, load: mean - loadOf(cell) }));
  const parts: Part[] = [];
  for (const source of open.filter((cell) => loadOf(cell) > mean)) {
    const perSlot = loadOf(source) / (widths.get(source) ?? 0);
    let surplus = loadOf(source) - mean;
    for (const lack of lacking) {
      const load = Math.min(surplus, lack.load);
      const count = Number.isFinite(perSlot) ? Math.floor(load / perSlot) : 0;
      if (count > 0) parts.push({ source, destination: lack.cell, count });
      surplus -= load;
      lack.load -= load;
    }
  }
  return planned(ranges, parts);
}

interface Part {
  readonly source: string;
  readonly destination: string;
  /** Slots. */
  readonly count: number;
}

/** Chooses the slots: from the end of the widest range of the source, so that ranges stay few. */
function planned(ranges: readonly SlotRange[], parts: readonly Part[]): readonly PlannedHandover[] {
  const handovers: PlannedHandover[] = [];
  let rest = ranges;
  for (const { source, destination, count } of parts) {
    for (let left = count; left > 0; ) {
      const widest = widestOf(rest, source);
      if (widest === null) break;
      const width = Math.min(left, widthOf(widest), SLOTS_AT_ONCE);
      const run: SlotRun = { from: widest.to - width + 1, to: widest.to };
      handovers.push({ ...run, source, destination });
      rest = withGiven(rest, run, destination);
      left -= width;
    }
  }
  return handovers;
}

const widestOf = (ranges: readonly SlotRange[], cell: string): SlotRange | null =>
  ranges.reduce<SlotRange | null>(
    (widest, range) => (range.cell === cell && (widest === null || widthOf(range) > widthOf(widest)) ? range : widest),
    null,
  );

type Counted = readonly [cell: string, count: number];

/** A number in whole parts, in proportion to what there is; what rounding leaves goes to the first that has more. */
function inProportion(count: number, have: readonly Counted[]): readonly Counted[] {
  const all = widthIn(have);
  const parts = have.map(([cell, width]) => ({ cell, width, part: Math.floor((count * width) / all) }));
  let left = count - parts.reduce((sum, { part }) => sum + part, 0);
  for (const one of parts) {
    const more = Math.min(left, one.width - one.part);
    one.part += more;
    left -= more;
  }
  return parts.filter(({ part }) => part > 0).map(({ cell, part }) => [cell, part]);
}

const widthIn = (have: readonly Counted[]): number => have.reduce((sum, [, width]) => sum + width, 0);

/** Fills up the lowest first, like water. */
function filled(count: number, have: ReadonlyMap<string, number>): readonly Counted[] {
  const lowest = [...have].sort(([, a], [, b]) => a - b);
  const taken = new Map<string, number>();
  let [left, level] = [count, 0];
  for (let n = 1; n <= lowest.length && left > 0; n += 1) {
    level = lowest[n - 1]?.[1] ?? 0;
    const next = lowest[n]?.[1] ?? Number.POSITIVE_INFINITY;
    const room = Math.min(left, (next - level) * n);
    for (const [i, part] of equalParts(room, n).entries()) {
      const cell = lowest[i]?.[0] ?? '';
      taken.set(cell, (taken.get(cell) ?? 0) + part);
    }
    left -= room;
  }
  return [...taken].filter(([, part]) => part > 0);
}

const equalParts = (count: number, n: number): readonly number[] =>
  Array.from({ length: n }, (_, i) => Math.floor(count / n) + (i < count % n ? 1 : 0));
