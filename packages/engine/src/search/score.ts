import type { IndexHit } from '../ports/search-index.ts';
import { termSet } from '../text/terms.ts';
import { highest, isAllKnown } from './hits.ts';
import { beforeRatings, type RankedHit, type RankQuestion, ratingOf } from './rank.ts';
import type { Judged, Judgement } from './relevance.ts';

export interface ScoredHit extends RankedHit {
  /** 0…1, falling: how sure it is that this hit answers. Of a pure vector search the cosine. What a threshold is held against. */
  readonly score: number;
}

/** The hits with their scores, in their order. */
export function scored({ mode }: RankQuestion, ranked: readonly RankedHit[], judged: Judgement): readonly ScoredHit[] {
  if (mode === 'vector') return ranked.map((one) => ({ ...one, score: cosineOf(one) }));
  return withRatings(ranked, unratedScores(ranked, judged));
}

/** What points away is as far as what was not found. */
const cosineOf = ({ hit: { vectorScore } }: RankedHit): number => Math.min(1, Math.max(0, vectorScore ?? 0));

/**
 * How sure it is that anything answers, times how likely the hit does, compared with the likeliest. All that is known answers a
 * question for everything.
 */
function unratedScores(ranked: readonly RankedHit[], judged: Judgement): ReadonlyMap<RankedHit, number> {
  if (judged === null) return new Map(ranked.map((one) => [one, 1]));
  const inOrder = beforeRatings(ranked);
  const likeliest = Math.max(...judged.chances);
  const hits = inOrder.map(({ hit }) => hit);
  const sure = sureness(judged, hits) / likeliest;
  const falls = falling(judged.chances);
  return new Map(inOrder.map((one, i) => [one, Math.min(1, sure * (falls[i] ?? 0))]));
}

/** Where as many memories are known, the calibration holds as it is. */
const MANY = 30;

/**
 * How sure it is that anything answers, 0…1. Where the likeliest hit has words of the question, how strong these are counts as much as
 * what the cut goes by: that was fitted on lives, and people who talk share many words with questions about somebody else.
 *
 * What the cut goes by was also fitted on parts of lives, which were asked the questions of the whole: the smaller the part, the fewer
 * of them it answers, and the lower the odds that were learnt. Who has told little is asked about that. So the fewer memories are
 * known, the higher the odds; of the powers of their number the square root made the fewest mistakes at a threshold of .5.
 */
function sureness(judged: Judged, hits: readonly IndexHit[]): number {
  const { answered, chances, traits } = judged;
  if (answered === 0) return 0;
  const likeliest = traits.hits[chances.indexOf(Math.max(...chances))];
  const own = Math.log(answered / (1 - answered));
  const odds = (likeliest?.words ?? 0) > 0 ? (own + byWords(judged, hits)) / 2 : own;
  const fewer = isAllKnown(hits) ? Math.max(1, MANY / hits.length) : 1;
  return 1 / (1 + Math.exp(-odds - Math.log(fewer) / 2));
}

/**
 * Weights of a logistic regression on 2,600 questions about long conversations, half of them asked of somebody else's with the names
 * exchanged.
 */
const BOTH_LEGS = { none: -6.7, strength: 4.1, coverage: 1.9, nearness: 5.3 } as const;
/** The same of the words alone, for questions without vectors. */
const WORDS_ALONE = { none: -5.4, strength: 4.1, coverage: 2.9, nearness: 0 } as const;

/** The hits whose words are looked at: whether the answer is there shows in the first few, or not at all. */
const LOOKED_AT = 5;
/** UTF-16 units of a text that are read. */
const TEXT_MAX = 1_000;

/** The log odds that anything answers, by the words that it shares. They rest on raw scores: relative ones always have a best. */
function byWords({ question, calibration, traits }: Judged, hits: readonly IndexHit[]): number {
  const words = new Set(question.terms);
  const weights = calibration === 'words' ? WORDS_ALONE : BOTH_LEGS;
  const strength = highest(hits.map((hit) => hit.keywordScore)) / Math.sqrt(Math.max(1, words.size)) / rarest(hits);
  const coverage = highest(hits.slice(0, LOOKED_AT).map(({ point }) => shareIn(point.text.slice(0, TEXT_MAX), words)));
  const nearness =
    calibration === 'learnt'
      ? ANSWER_NEAR * highest(traits.hits.map(({ measured }) => measured))
      : highest(traits.hits.map(({ near }) => near));
  return (
    weights.none + weights.strength * strength + weights.coverage * coverage + weights.nearness * Math.max(0, nearness)
  );
}

/** Hashed vectors of a question and its answer are about as near as a model's are on the scale that was measured of it. */
const ANSWER_NEAR = 0.4;

/** Of so many hits and more it is not known how many memories there are beside them: then as many as these are assumed. */
const HITS_MANY = 50;
const MEMORIES_ASSUMED = 150;

/** What BM25 gives a word that one memory alone has: the more memories there are, the more. */
function rarest(hits: readonly IndexHit[]): number {
  const memories = hits.length < HITS_MANY ? Math.max(1, hits.length) : MEMORIES_ASSUMED;
  return Math.log(1 + (memories - 0.5) / 1.5);
}

/** The share of the question's words that a text has. */
function shareIn(text: string, words: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  const own = termSet(text);
  return [...words].filter((word) => own.has(word)).length / words.size;
}

/** Of the mean: with 1 it would be the usual one, and the higher, the more the likeliest alone would count. */
const POWER = 3;

/**
 * Chances that fall along the order. Where a later hit is likelier than those before it, the order and the chances disagree; then they
 * share a mean of theirs in which the likeliest counts most.
 */
function falling(chances: readonly number[]): readonly number[] {
  const runs: { readonly sum: number; readonly length: number }[] = [];
  for (const chance of chances) {
    let run = { sum: chance ** POWER, length: 1 };
    for (let last = runs.at(-1); last !== undefined && meanOf(last) < meanOf(run); last = runs.at(-1)) {
      run = { sum: last.sum + run.sum, length: last.length + run.length };
      runs.pop();
    }
    runs.push(run);
  }
  return runs.flatMap((run) => Array.from({ length: run.length }, () => meanOf(run) ** (1 / POWER)));
}

const meanOf = ({ sum, length }: { readonly sum: number; readonly length: number }): number => sum / length;

/** What is rated gets that share more or less, but no less than what it stays before, and no more than what it falls behind. */
function withRatings(ranked: readonly RankedHit[], unrated: ReadonlyMap<RankedHit, number>): readonly ScoredHit[] {
  const scoreOf = (one: RankedHit): number => unrated.get(one) ?? 0;
  const scores: ScoredHit[] = [];
  for (const [i, one] of ranked.entries()) {
    const rating = ratingOf(one.hit);
    const behind = rating === 0 ? undefined : ranked.slice(i + 1).find(({ hit }) => ratingOf(hit) === 0);
    const least = behind === undefined ? 0 : scoreOf(behind);
    const score = Math.min(scores.at(-1)?.score ?? 1, Math.max(least, scoreOf(one) * (1 + rating)));
    scores.push({ ...one, score });
  }
  return scores;
}
