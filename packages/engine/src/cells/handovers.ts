import type { Millis } from '../words.ts';
import { SLOTS, type SlotRange, type SlotRun, widthOf, widthsOf, withGiven, withoutRuns } from './book.ts';

/**
 * Slots go over from one cell to another. New owners of them must not be made in both: so the source refuses new ones before the
 * destination takes any.
 *
 *   closing      the source is told to take no new owners of these slots
 *     done       → opening
 *     failed     → closing     later; reopening after GIVE_UP_AFTER of them: it may have heard it
 *   opening      the destination is told to take new ones, and all owners that the source has in the slots are listed
 *     done       → emptying    in one transaction: the slots are the destination's, each of these owners is an exception that stays at the
 *                              source, and is to be moved
 *     failed     → opening     later; reopening after GIVE_UP_AFTER of them
 *   emptying     the owners are moved one by one
 *     done       → over
 *   reopening    the source is told to take new owners again
 *     done       → over
 *     failed     → reopening   later
 *
 * While it is closing or opening, new owners of the slots wait; those that are there notice nothing.
 */
export interface Handover extends SlotRun {
  readonly id: string;
  readonly source: string;
  readonly destination: string;
  readonly attempt: number;
  readonly state: HandoverState;
  readonly tries: number;
  readonly why: string | null;
  readonly dueAt: Millis;
}

const HANDOVER_STATES = ['closing', 'opening', 'emptying', 'reopening'] as const;
type HandoverState = (typeof HANDOVER_STATES)[number];

const GIVE_UP_AFTER = 8;
const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 30_000;

/** What follows from a step that went well. 'over': nothing is left of the handover. */
export function afterHandoverStep(handover: Handover): Handover | 'over' {
  const next = NEXT[handover.state];
  return next === 'over' ? 'over' : { ...handover, state: next, tries: 0, why: null, dueAt: 0 };
}

const NEXT: Readonly<Record<HandoverState, HandoverState | 'over'>> = {
  closing: 'opening',
  opening: 'emptying',
  emptying: 'over',
  reopening: 'over',
};

/** What follows from a step that did not. */
export function afterHandoverFailure(handover: Handover, why: string, now: Millis): Handover {
  const tries = handover.tries + 1;
  const dueAt = now + Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** handover.tries);
  const isBefore = handover.state === 'closing' || handover.state === 'opening';
  return isBefore && tries >= GIVE_UP_AFTER
    ? { ...handover, state: 'reopening', why, tries: 0, dueAt }
    : { ...handover, why, tries, dueAt };
}

/**
 * The slots of which a cell takes no new owners: those of others, and those that it is giving away. One that nobody has begun with closes
 * nothing: where a cell is drained, most of them wait for minutes, and new owners must not wait with them.
 */
export function closedTo(
  cell: string,
  ranges: readonly SlotRange[],
  handovers: readonly Handover[],
): readonly SlotRun[] {
  const giving = handovers.filter(
    ({ source, state, attempt }) => source === cell && ((state === 'closing' && attempt > 0) || state === 'opening'),
  );
  const getting = handovers.filter(({ destination, state }) => destination === cell && state === 'opening');
  const foreign = ranges.filter((range) => range.cell !== cell).map(({ from, to }) => ({ from, to }));
  return inOrder([...withoutRuns(foreign, getting), ...giving.map(({ from, to }) => ({ from, to }))]);
}

const inOrder = (runs: readonly SlotRun[]): readonly SlotRun[] => {
  const result: SlotRun[] = [];
  for (const run of [...runs].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && run.from <= last.to + 1)
      result[result.length - 1] = { from: last.from, to: Math.max(last.to, run.to) };
    else result.push(run);
  }
  return result;
};

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
