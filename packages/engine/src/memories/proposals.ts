import type { Memory } from '../words.ts';
import { holdingMarks, liveVersion, ratingOf } from './evolve.ts';

/**
 * Why the deletion that a very bad rating proposes is over, by the memory as it is now, as answers about reviews say it; null: it
 * still waits. `rated` is the version it is about.
 */
export function proposalOver(memory: Memory, rated: number): string | null {
  if (liveVersion(memory) === null) return GONE;
  if (!holdingMarks(memory.timeline).includes(rated)) return 'the memory has changed since it was rated';
  return ratingOf(memory, rated) === 'very_negative' ? null : 'the rating was changed or taken back';
}

export const GONE = 'the memory it would delete is gone';
