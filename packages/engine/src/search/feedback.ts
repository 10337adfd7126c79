import type { IndexHit } from '../ports/search-index.ts';
import { termSet } from '../text/terms.ts';
import { highest } from './fuse.ts';
import type { RankQuestion } from './rank.ts';

/** How much words that the best hits share can add. More of it drifts away from the question. */
const SHARE = 0.1;
/**
 * The hits that are believed. They are not reordered by their own words: of near-duplicates the many would win over the
 * right one. So it gains nothing in front; on facts half a point of R@10.
 */
const BELIEVED = 3;
/** Fewer words miss other wordings, more bring in noise. */
const WORDS = 12;
/** The hits whose texts are read again: what stands further behind does not come into the first ten by it. */
const READ = 25;
/** UTF-16 units of a text that are read: the beginning of a long one tells what it is about. */
const TEXT_MAX = 300;

/**
 * Pseudo-relevance feedback: what the best hits have in common, and others have not, is asked for once more, of the hits
 * alone. So no second question goes to the index.
 */
export function feedback({ terms: asked }: RankQuestion, hits: readonly IndexHit[], scores: readonly number[]) {
  const order = bestFirst(scores).slice(0, READ);
  const read = order.map((i) => ({
    words: termSet((hits[i]?.point.text ?? '').slice(0, TEXT_MAX)),
    score: scores[i] ?? 0,
  }));
  const words = wordsOf(read, new Set(asked));
  const found = read.slice(BELIEVED).map((text) => vouchedFor(text, words));
  const top = highest(found);
  const added = hits.map(() => 0);
  for (const [place, i] of order.entries()) {
    added[i] = place < BELIEVED ? SHARE : top === 0 ? 0 : (SHARE * (found[place - BELIEVED] ?? 0)) / top;
  }
  return added;
}

interface Text {
  readonly words: ReadonlySet<string>;
  readonly score: number;
}

interface Vouched {
  readonly word: string;
  /** The scores of the best hits that have it. */
  readonly weight: number;
  readonly rarity: number;
}

/** The heaviest words of the best hits: in several of them, in those that stand highest, and rare among all that are read. */
function wordsOf(read: readonly Text[], asked: ReadonlySet<string>): Vouched[] {
  const weights = new Map<string, number>();
  for (const { words, score } of read.slice(0, BELIEVED)) {
    for (const word of words) if (!asked.has(word)) weights.set(word, (weights.get(word) ?? 0) + score);
  }
  const having = countsOf(read, weights);
  const rarityOf = (word: string): number => {
    const count = having.get(word) ?? 0;
    return Math.log(1 + (read.length - count + 0.5) / (count + 0.5));
  };
  return [...weights]
    .map(([word, weight]) => ({ word, weight, rarity: rarityOf(word) }))
    .sort((a, b) => b.weight * b.rarity - a.weight * a.rarity || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS);
}

/** What the other best hits say for a text. */
const vouchedFor = (text: Text, words: readonly Vouched[]): number =>
  words.reduce((sum, { word, weight, rarity }) => sum + (text.words.has(word) ? rarity * weight : 0), 0);

/** In how many texts each of some words is. */
function countsOf(read: readonly Text[], looked: ReadonlyMap<string, unknown>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { words } of read) {
    for (const word of words) if (looked.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

const bestFirst = (scores: readonly number[]): number[] =>
  scores.map((_, i) => i).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
