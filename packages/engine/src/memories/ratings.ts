import type { Credit } from '../ports/ledger/feedback.ts';
import { creditScore } from '../receipts.ts';
import type { Mark, Memory, Millis, Rating } from '../words.ts';
import { holdingMarks, liveVersion, stretchesOf, unretracted } from './evolve.ts';

/** A mark that rates a version. */
type RatedMark = Extract<Mark, { kind: 'rated' }>;

/**
 * The ratings that count of each version, by any of its marks, oldest first. They are of the text: whatever is said the same in a row
 * has them, and a version with another text begins without. Worked out once for all versions.
 */
export function ratingsOf({ timeline }: Pick<Memory, 'timeline'>): (version: number) => readonly RatedMark[] {
  if (!timeline.some(isRated)) return () => [];
  const ofMark = new Map<number, RatedMark[]>();
  for (const stretch of stretchesOf(timeline)) {
    const ratings: RatedMark[] = [];
    if (stretch.kind === 'run') for (const { revision } of stretch.run) ofMark.set(revision, ratings);
  }
  for (const mark of unretracted(timeline)) if (isRated(mark)) ofMark.get(mark.version)?.push(mark);
  return (version) => ofMark.get(version) ?? [];
}

/** The revisions of the marks that make one version with a mark, that one among them; none where it does not count. */
export function marksBeside({ timeline }: Pick<Memory, 'timeline'>, revision: number): readonly number[] {
  const runs = stretchesOf(timeline).flatMap((stretch) =>
    stretch.kind === 'run' ? [stretch.run.map((mark) => mark.revision)] : [],
  );
  return runs.find((run) => run.includes(revision)) ?? [];
}

const isRated = (mark: Mark): mark is RatedMark => mark.kind === 'rated';

/** The last rating of a version that counts. null: none, or it was taken back. */
export const ratingOf = (memory: Pick<Memory, 'timeline'>, version: number): Rating | null =>
  lastRating(ratingsOf(memory)(version));

export const lastRating = (ratings: readonly RatedMark[]): Rating | null => ratings.at(-1)?.rating ?? null;

/** When it was rated last, whether that counts or not. */
export const ratedAt = ({ timeline }: Pick<Memory, 'timeline'>): Millis | null =>
  timeline.findLast((mark) => mark.kind === 'rated')?.recordedAt ?? null;

/**
 * Why the deletion that a very bad rating proposes is over, by the memory as it is now, as answers about reviews say it; null: it
 * still waits. `rated` is the version it is about.
 */
export function proposalOver(memory: Memory, rated: number): string | null {
  if (liveVersion(memory) === null) return GONE;
  if (!holdingMarks(memory.timeline).includes(rated)) return 'the memory has changed since it was rated';
  return ratingOf(memory, rated) === 'very_negative' ? null : 'the rating was changed or removed';
}

export const GONE = 'the memory it would delete no longer exists';

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
