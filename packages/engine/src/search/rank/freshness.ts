import type { IndexHit } from '../../ports/search-index.ts';
import type { Millis } from '../../words.ts';
import { saysAt } from '../visible.ts';
import type { RankQuestion } from './question.ts';

/**
 * The most that being said lately, and again and again, can add: enough to order what fits equally well, too little to put a
 * worse fit first.
 */
const FRESH = 0.01;
const CONFIRMED = 0.01;
/** After this long half of the freshness is gone. */
const HALF_LIFE: Millis = 30 * 24 * 3_600_000;
/** What a memory once said comes after what it says now, where both are asked for and fit about equally well. */
const FORMER = -0.05;

export function freshness({ at }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const holding = new Set(hits.flatMap(({ point }) => (saysAt(point, at) ? [point.memoryId] : [])));
  return hits.map(({ point }) => {
    const age = Math.max(0, at - point.saidAt.at);
    const often = 1 - 1 / (1 + Math.max(0, point.confirmations));
    const former = !saysAt(point, at) && holding.has(point.memoryId) ? FORMER : 0;
    return FRESH * 0.5 ** (age / HALF_LIFE) + CONFIRMED * often + former;
  });
}
