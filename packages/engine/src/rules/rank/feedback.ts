import type { IndexHit } from '../../ports/search-index.ts';
import { terms } from '../../text/terms.ts';
import { highest, type RankQuestion } from './question.ts';

/** How much words that the best hits share can add. Gains 3 points of R@1; more of it drifts away from the question. */
const SHARE = 0.2;
/** The hits that are believed, and how many of their words: fewer miss other wordings, more bring in noise. */
const BELIEVED = 5;
const WORDS = 12;
/** The hits whose texts are read again: what stands further behind does not come into the first ten by it. */
const READ = 30;
/** UTF-16 units of a text that are read: the beginning of a long one tells what it is about. */
const TEXT_MAX = 300;

/**
 * Pseudo-relevance feedback: what the best hits have in common, and others have not, is asked for once more, of the hits
 * alone. So no second question goes to the index.
 */
export function feedback({ terms: asked }: RankQuestion, hits: readonly IndexHit[], scores: readonly number[]) {
  const order = bestFirst(scores).slice(0, READ);
  const texts = order.map((i) => new Set(terms((hits[i]?.point.text ?? '').slice(0, TEXT_MAX))));
  const believed = texts.slice(0, BELIEVED).map((text, place) => ({ text, score: scores[order[place] ?? 0] ?? 0 }));
  const words = wordsOf(believed, texts, new Set(asked));
  const found = texts.map((text) => words.reduce((sum, [word, weight]) => sum + (text.has(word) ? weight : 0), 0));
  const top = highest(found);
  const added = hits.map(() => 0);
  for (const [place, i] of order.entries()) added[i] = top === 0 ? 0 : (SHARE * (found[place] ?? 0)) / top;
  return added;
}

type Text = ReadonlySet<string>;
type Weighted = readonly [word: string, weight: number];

/** The heaviest words of the best hits: in several of them, in those that stand highest, and rare among all that are read. */
function wordsOf(
  believed: readonly { readonly text: Text; readonly score: number }[],
  texts: readonly Text[],
  asked: Text,
): Weighted[] {
  const weights = new Map<string, number>();
  for (const { text, score } of believed) {
    for (const word of text) if (!asked.has(word)) weights.set(word, (weights.get(word) ?? 0) + score);
  }
  const having = countsOf(texts, weights);
  const rarity = (word: string): number => {
    const count = having.get(word) ?? 0;
    return Math.log(1 + (texts.length - count + 0.5) / (count + 0.5));
  };
  const rare = [...weights].map(([word, weight]): Weighted => [word, weight * rarity(word)]);
  return rare.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, WORDS);
}

/** In how many texts each of some words is. */
function countsOf(texts: readonly Text[], words: ReadonlyMap<string, unknown>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const word of text) if (words.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

const bestFirst = (scores: readonly number[]): number[] =>
  scores.map((_, i) => i).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
