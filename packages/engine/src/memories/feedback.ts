import type { Credit } from '../ports/ledger/receipts.ts';
import { creditScore } from '../receipts/receipts.ts';
import type { Memory, Rating } from '../words.ts';
import { lastRating, ratingsOf } from './ratings.ts';

/**
 * What each rating is worth. Very bad ones count twice as much as the others, so that no outcomes of answers make up for them: they
 * are worth half at most.
 */
const WORTH: Readonly<Record<Rating, number>> = { positive: 0.5, negative: -0.5, very_negative: -1 };
const OUTCOMES = 0.5;
/** What a night found nobody to need stands behind what is as good an answer. */
const FADED = -0.5;
/** Thousandths: the same on every machine, and little to store. */
const STEPS = 1_000;

/** What is thought of each version, −1…1: its rating, what the answers led to that told it, and whether it has faded. */
export function feedbackOf(memory: Memory, credits: readonly Credit[]): (version: number) => number {
  const ratings = ratingsOf(memory);
  const credited = new Map(credits.flatMap((one) => (one.memoryId === memory.id ? [[one.version, one] as const] : [])));
  const faded = new Set(memory.versions.flatMap(({ number, details }) => (details.faded === true ? [number] : [])));
  return (version) => {
    const rating = lastRating(ratings(version));
    const credit = credited.get(version);
    const worth =
      (rating === null ? 0 : WORTH[rating]) +
      (credit === undefined ? 0 : OUTCOMES * creditScore(credit)) +
      (faded.has(version) ? FADED : 0);
    return Math.round(STEPS * Math.min(1, Math.max(-1, worth))) / STEPS;
  };
}
