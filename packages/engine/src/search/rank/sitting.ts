import type { IndexHit } from '../../ports/search-index.ts';
import type { Millis } from '../../words.ts';

/** How much of the score of what was said beside it a hit gets. More of it lifts whole sessions and costs R@1. */
const NEIGHBOUR_SHARE = 0.15;
/** Further apart than this many messages, or this long, is another subject. */
const MESSAGES_APART = 3;
const TIME_APART: Millis = 30 * 60_000;

/**
 * What was said within a few messages of a good hit, in the same sitting, is likely about the same: its words are spread
 * over several messages. Gains 1 point of R@10. The nearer, the more.
 */
export function sitting(hits: readonly IndexHit[], scores: readonly number[]): readonly number[] {
  const inOrder = hits.map((_, i) => i).sort((a, b) => saidAt(hits, a).seq - saidAt(hits, b).seq || a - b);
  const best = hits.map(() => 0);
  for (const [place, i] of inOrder.entries()) {
    for (let next = place + 1; next < inOrder.length; next += 1) {
      const j = inOrder[next] ?? i;
      const apart = saidAt(hits, j).seq - saidAt(hits, i).seq;
      if (apart > MESSAGES_APART) break;
      if (Math.abs(saidAt(hits, j).at - saidAt(hits, i).at) > TIME_APART) continue;
      const nearness = 1 / Math.max(1, apart);
      best[i] = Math.max(best[i] ?? 0, (scores[j] ?? 0) * nearness);
      best[j] = Math.max(best[j] ?? 0, (scores[i] ?? 0) * nearness);
    }
  }
  return best.map((score) => NEIGHBOUR_SHARE * score);
}

const saidAt = (hits: readonly IndexHit[], i: number) => hits[i]?.point.saidAt ?? { at: 0, seq: 0 };
