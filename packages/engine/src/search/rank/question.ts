import type { Millis } from '../../words.ts';
import type { SearchMode } from '../fuse.ts';

/** What was asked, as far as the order of its answers depends on it. */
export interface RankQuestion {
  readonly text: string;
  /** The terms the keyword leg was asked for. */
  readonly terms: readonly string[];
  readonly mode: SearchMode;
  /** The moment that is asked about: now, or that of as_of. */
  readonly at: Millis;
  /** How the vectors were made: by hashing, or by a model that has learnt what is near. */
  readonly vectors: 'hashed' | 'learnt';
}

export const highest = (scores: readonly (number | null)[]): number =>
  scores.reduce<number>((top, score) => Math.max(top, score ?? 0), 0);
