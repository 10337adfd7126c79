import type { Millis } from '../words.ts';
import { type SlotRange, type SlotRun, withoutRuns } from './slots.ts';

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

export const HANDOVER_STATES = ['closing', 'opening', 'emptying', 'reopening'] as const;
export type HandoverState = (typeof HANDOVER_STATES)[number];

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
