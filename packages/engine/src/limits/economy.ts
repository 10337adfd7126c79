import type { DuePolicy, WindowPolicy } from '../ports/ledger/lanes.ts';
import type { EconomySettings } from '../settings.ts';
import type { Millis } from '../words.ts';

/**
 * How a tenant economises while the budget of its day runs out. Each rung keeps what those below it do:
 *   0  nothing is saved
 *   1  larger batches: lanes wait longer, and windows are longer
 *   2  the cheaper models of the steps are asked, where some are named
 *   3  no summary is refreshed and no study of the graph is made; both wait
 *   4  all that asks a model waits: the budget is used up
 * The first begins at the soft limit, the others follow at equal distances up to the budget.
 */
const RUNGS = ['nothing', 'larger_batches', 'cheaper_models', 'no_summary_no_graph', 'waiting'] as const;
type RungName = (typeof RUNGS)[number];
type Rung = 0 | 1 | 2 | 3 | 4;

export const LARGER_BATCHES = 1;
const CHEAPER_MODELS = 2;
export const NO_EXTRAS = 3;
const WAITING = 4;

/** How far a tenant economises on a day (UTC). */
export interface Economy {
  readonly day: number;
  readonly rung: number;
  /** The highest of the day, as long as the limits stay the same. */
  readonly highest: number;
  /** What it was decided by: with other limits it is decided anew. */
  readonly limits: string;
  readonly since: Millis;
}

/** What is seen of a day. */
export interface Spending {
  readonly day: number;
  /** The largest part of a limit that is used: 1 is all of it. */
  readonly share: number;
  readonly softLimit: number | null;
  readonly limits: string;
}

/** On which rung somebody is who has used so much. */
export function rungAt(share: number, softLimit: number | null): Rung {
  if (share >= 1) return WAITING;
  if (softLimit === null || share < softLimit) return 0;
  const climbed = Math.floor(((share - softLimit) / (1 - softLimit)) * WAITING_AFTER);
  return Math.min(NO_EXTRAS, LARGER_BATCHES + climbed) as Rung;
}

/** Rungs between the soft limit and the budget. */
const WAITING_AFTER = WAITING - LARGER_BATCHES;

export interface Climbed {
  /** null: nothing is saved. */
  readonly economy: Economy | null;
  /** Somebody wants to know: a higher rung than any before it on this day, or the end. */
  readonly told: boolean;
}

/**
 * What follows from what is seen. Calls that are on their way count with an estimate, so that what is used may fall again: within a day
 * and with the same limits a rung is not left for that, except that work goes on as soon as there is room.
 */
export function climb(before: Economy | null, { day, share, softLimit, limits }: Spending, now: Millis): Climbed {
  const isSame = before !== null && before.day === day && before.limits === limits;
  const held = isSame ? Math.min(before.rung, NO_EXTRAS) : 0;
  const rung = Math.max(rungAt(share, softLimit), held);
  if (rung === 0) return { economy: null, told: before !== null };
  const highest = isSame ? Math.max(before.highest, rung) : rung;
  const since = before !== null && before.rung === rung ? before.since : now;
  const told = isSame ? rung > before.highest : before?.rung !== rung;
  return { economy: { day, rung, highest, limits, since }, told };
}

/** The rung that holds on a day; 0: none. */
export const rungOn = (economy: Economy | null, day: number): number => (economy?.day === day ? economy.rung : 0);

export const rungName = (rung: number): RungName => RUNGS[rung] ?? 'nothing';

/** By so much batches and windows are larger from the first rung on. */
const LARGER = 2;
/** A longer wait is no longer than this for its sake, in ms. */
const LONGER_MS = 30 * 60_000;

/** Lanes wait for twice as much, and twice as long: half an hour more at most. */
export function largerDue(policy: DuePolicy, rung: number): DuePolicy {
  if (rung < LARGER_BATCHES) return policy;
  const longer = (ms: Millis): Millis => ms + Math.min(ms * (LARGER - 1), LONGER_MS);
  return {
    ...policy,
    tokens: policy.tokens * LARGER,
    ...(policy.exchanges !== undefined && { exchanges: policy.exchanges * LARGER }),
    idleMs: longer(policy.idleMs),
    maxAgeMs: longer(policy.maxAgeMs),
  };
}

/** What does not fit into one call is read in parts, so that a longer window asks no model for more than it can read. */
export const largerWindow = (window: WindowPolicy, rung: number): WindowPolicy =>
  rung < LARGER_BATCHES ? window : { maxTokens: window.maxTokens * LARGER, maxBatches: window.maxBatches * LARGER };

/** The models of the steps, with the cheaper ones in their place that are named; with a gate only those that passed it are asked (gate.ts). */
export const cheaperOf = ({ models }: EconomySettings, rung: number): EconomySettings['models'] =>
  rung < CHEAPER_MODELS ? {} : models;
