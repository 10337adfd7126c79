import type { Credit } from '../ports/ledger/receipts.ts';
import { creditScore } from '../receipts/credit.ts';
import type { Memory, Rating } from '../words.ts';
import { ratingOf } from './evolve.ts';

/**
 * What each rating is worth. Very bad ones count twice as much as the others, so that no outcomes of answers make up for them: they
 * are worth half at most.
 */
const WORTH: Readonly<Record<Rating, number>> = { positive: 0.5, negative: -0.5, very_negative: -1 };
const OUTCOMES = 0.5;
/** Thousandths: the same on every machine, and little to store. */
const STEPS = 1_000;

/** What is thought of a version, −1…1: its rating, and what the answers led to that told it. */
export function feedbackOf(memory: Memory, version: number, credits: readonly Credit[]): number {
  const rating = ratingOf(memory, version);
  const credit = credits.find((one) => one.memoryId === memory.id && one.version === version);
  const worth = (rating === null ? 0 : WORTH[rating]) + (credit === undefined ? 0 : OUTCOMES * creditScore(credit));
  return Math.round(STEPS * Math.min(1, Math.max(-1, worth))) / STEPS;
}
