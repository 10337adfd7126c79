import type { DuePolicy, NewBatch } from '../ports/ledger/lanes.ts';
import type { Millis } from '../words.ts';

/** One gap moves the pace by half at the most: a night between two conversations says little of how somebody writes. */
const STEP = 1.5;
/** Of whom nothing is known yet. */
const FIRST_MS = 10_000;
/** What a program sends in one go says nothing of how somebody writes. */
const LEAST_MS = 1_000;

interface Paced {
  /** null: nothing is known of it. */
  readonly pace: Millis | null;
  /** When the last batch was accepted; null: there was none. */
  readonly newestAt: Millis | null;
}

/**
 * The pace of an owner with a further batch: about the median of the gaps before they say something. Answers, imports and clocks
 * that were ahead say nothing of it.
 */
export function paceWith(
  { pace, newestAt }: Paced,
  batch: Pick<NewBatch, 'acceptedAt' | 'priority'> & { readonly exchanges: number },
  { maxAgeMs }: DuePolicy,
): Millis | null {
  const gap = newestAt === null ? -1 : batch.acceptedAt - newestAt;
  if (gap < 0 || batch.priority === 'backfill' || batch.exchanges === 0) return pace;
  const before = pace ?? FIRST_MS;
  const next = Math.min(Math.max(gap, before / STEP), before * STEP);
  return Math.round(Math.max(Math.min(next, maxAgeMs), LEAST_MS));
}

/**
 * The silence after which a lane is due. Nobody is waited for who would come too late anyway, and old conversations that are
 * brought in come as fast as they can be sent.
 */
export function silenceOf(lane: Pick<Paced, 'pace'> & { readonly isLive: boolean }, policy: DuePolicy): Millis {
  const { idleMs, paces = 0, maxAgeMs } = policy;
  const pace = lane.pace ?? FIRST_MS;
  return lane.isLive && pace < maxAgeMs ? Math.max(idleMs, paces * pace) : idleMs;
}

/** An exchange begins with what a user says. */
export const exchangesIn = ({ messages }: Pick<NewBatch, 'messages'>): number =>
  messages.filter(({ role }) => role === 'user').length;
