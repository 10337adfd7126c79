import type { IndexHit } from '../ports/search-index.ts';
import { termSet } from '../text/terms.ts';
import { compareSaid, type Millis } from '../words.ts';
import { asking, freshness, shared, speaker, subject, time } from './factors.ts';
import { compareIds, foundBy, fusion, highest, type Legs } from './hits.ts';
import { topicsIn } from './traits.ts';

/** What was asked, as far as the order of its answers depends on it. */
export interface RankQuestion extends Legs {
  readonly text: string;
  /** The terms the keyword leg was asked for. */
  readonly terms: readonly string[];
  /** The moment that is asked about: now, or that of as_of. */
  readonly at: Millis;
}

export interface RankedHit {
  readonly hit: IndexHit;
  /**
   * 0…1, falling: how sure it is that the question is answered at all, times how well this hit fits compared with the first.
   * Of a pure vector search the cosine. What a threshold is held against.
   */
  readonly score: number;
  /** How well the hit fits compared with the one that fits best, 0…1; what was rated up or down a bit more or less. Orders; says nothing about whether anything answers. */
  readonly relative: number;
}

/** What puts a hit before or behind others, beside the scores of the legs. Each was measured alone: docs/retrieval.md. */
export const FACTORS = [
  'speaker',
  'subject',
  'topics',
  'asking',
  'time',
  'shared',
  'sitting',
  'freshness',
  'feedback',
] as const;
export type FactorName = (typeof FACTORS)[number];

/** The hits of one question in their final order. */
export const rank = (question: RankQuestion, hits: readonly IndexHit[]): RankedHit[] => rankBy(FACTORS, question, hits);

/** The same with some of the factors, to see what each of them does. */
export function rankBy(factors: readonly FactorName[], question: RankQuestion, hits: readonly IndexHit[]): RankedHit[] {
  const found = inRankOrder(question, hits);
  const { sums, unrated } = sharesOf(new Set(factors), question, found);
  const order = orderOf(sums);
  const fitting = orderOf(unrated);
  const top = unrated[fitting[0] ?? 0] ?? 0;
  const sure = question.mode === 'vector' ? null : confidence(question, found, fitting);
  return order.flatMap((i) => {
    const hit = found[i];
    if (hit === undefined) return [];
    const relative = top <= 0 ? 0 : Math.min(1, Math.max(0, sums[i] ?? 0) / top);
    return [{ hit, relative, score: sure === null ? cosineOf(hit) : sure * relative }];
  });
}

/** What the hits of a question got, in their order: from both legs, and from each factor beside them. */
interface Shares {
  readonly fused: readonly number[];
  readonly factors: readonly (readonly [name: FactorName, added: readonly number[]])[];
  readonly sums: readonly number[];
  /** The sums before ratings: what others are compared with, so that a rating moves one memory alone. */
  readonly unrated: readonly number[];
}

/** A pure vector search is ordered by its vectors. */
function sharesOf(wanted: ReadonlySet<FactorName>, question: RankQuestion, hits: readonly IndexHit[]): Shares {
  const fused = fusion(question, hits);
  const none: Shares = { fused, factors: [], sums: fused, unrated: fused };
  if (question.mode === 'vector') return none;
  return FACTORS.filter((name) => wanted.has(name)).reduce<Shares>(({ factors, sums }, name) => {
    const added = ADDED[name](question, hits, sums);
    const next = sums.map((sum, i) => sum + (added[i] ?? 0));
    return { fused, factors: [...factors, [name, added]], sums: next, unrated: name === 'feedback' ? sums : next };
  }, none);
}

type Added = (question: RankQuestion, hits: readonly IndexHit[], sums: readonly number[]) => readonly number[];

/** What each factor adds to the sums so far. */
const ADDED: Readonly<Record<FactorName, Added>> = {
  speaker,
  subject,
  topics: (question, hits) => topicsIn(question, hits).topics.map((share) => TOPICS * share),
  asking: (_, hits) => asking(hits),
  time,
  shared,
  sitting: (_, hits, sums) => sitting(hits, sums),
  freshness,
  feedback: (_, hits, sums) => feedback(hits, sums),
};

/** Why a hit stands where it does. */
export interface RankReason {
  /** Both legs, each relative to its best. */
  readonly fused: number;
  /** What was added to that; factors that added nothing are left out. */
  readonly boosts: Readonly<Partial<Record<FactorName, number>>>;
}

/** The reasons of `rank`, by id and version. */
export function reasonsOf(question: RankQuestion, hits: readonly IndexHit[]): ReadonlyMap<string, RankReason> {
  const found = inRankOrder(question, hits);
  const { fused, factors } = sharesOf(new Set(FACTORS), question, found);
  return new Map(
    found.map((hit, i) => {
      const boosts = factors.flatMap(([name, added]) => (added[i] === 0 ? [] : [[name, added[i] ?? 0] as const]));
      return [nameOfHit(hit), { fused: fused[i] ?? 0, boosts: Object.fromEntries(boosts) }];
    }),
  );
}

export const nameOfHit = ({ point }: IndexHit): string => `${point.memoryId} ${point.version}`;

const inRankOrder = ({ mode }: RankQuestion, hits: readonly IndexHit[]): IndexHit[] =>
  hits.filter((hit) => foundBy(mode, hit)).sort(compareHits);

/** Highest first; equal ones as they come. */
const orderOf = (sums: readonly number[]): readonly number[] =>
  sums.map((_, i) => i).sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b);

/** Of equal ones the newest first; then by id, the same on every machine. */
const compareHits = (a: IndexHit, b: IndexHit): number =>
  compareSaid(b.point.saidAt, a.point.saidAt) || compareIds(a.point, b.point);

/** What points away is as far as what was not found. */
const cosineOf = ({ vectorScore }: IndexHit): number => Math.min(1, Math.max(0, vectorScore ?? 0));

/** How much of the score of what was said beside it a hit gets. More of it lifts whole sessions and costs R@1. */
const NEIGHBOUR_SHARE = 0.15;
/** Further apart than this many messages, or this long, is another subject. */
const MESSAGES_APART = 3;
const TIME_APART: Millis = 30 * 60_000;

/**
 * What was said within a few messages of a good hit, in the same sitting, is likely about the same: its words are spread
 * over several messages. Gains 1 point of R@10. The nearer, the more.
 */
function sitting(hits: readonly IndexHit[], scores: readonly number[]): readonly number[] {
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

/**
 * The most that ratings and outcomes can do to the sum of a hit: a fifth, up or down. So what fits one and a half times as well as
 * something else stays before it, whatever is thought of both. Comes last: no other factor spreads it to what stands beside it, and
 * the cut does not look at it.
 */
const FEEDBACK = 0.2;

const feedback = (hits: readonly IndexHit[], sums: readonly number[]): readonly number[] =>
  hits.map(({ point }, i) => FEEDBACK * (point.feedback ?? 0) * Math.max(0, sums[i] ?? 0));

/** What is about what the question is about, also where they share no word. */
const TOPICS = 0.3;

const saidAt = (hits: readonly IndexHit[], i: number) => hits[i]?.point.saidAt ?? { at: 0, seq: 0 };

/**
 * Weights of a logistic regression on 2,600 questions, half of them asked of somebody else's conversation with the names
 * exchanged. It separates these halves with an AUROC of .87 on raw messages and .90 on facts, and is right about as often
 * as it says: of the questions it gives .8 and more, 94 % are answered by what is there; of those below .2, 10 %.
 */
const BOTH_LEGS = { none: -6.7, strength: 4.1, coverage: 1.9, nearness: 5.3 } as const;
/** The same of the words alone, for questions without vectors. */
const WORDS_ALONE = { none: -5.4, strength: 4.1, coverage: 2.9, nearness: 0 } as const;

/** The hits whose words are looked at: whether the answer is there shows in the first few, or not at all. */
const LOOKED_AT = 5;
/** UTF-16 units of a text that are read. */
const TEXT_MAX = 1_000;

/**
 * How sure it is that something among the hits answers the question, 0…1. Rests on raw scores: those relative to the best
 * hit look the same whether it answers or not.
 */
function confidence(question: RankQuestion, hits: readonly IndexHit[], order: readonly number[]): number {
  const words = new Set(question.terms);
  const top = highest(hits.map((hit) => hit.keywordScore));
  const best = order.slice(0, LOOKED_AT).flatMap((i) => hits[i] ?? []);
  const near = question.mode === 'keyword' ? null : nearness(question, hits);
  const weights = near === null ? WORDS_ALONE : BOTH_LEGS;
  const strength = top / Math.sqrt(Math.max(1, words.size)) / rarest(hits);
  const coverage = highest(best.map(({ point }) => shareIn(point.text.slice(0, TEXT_MAX), words)));
  const sum = weights.none + weights.strength * strength + weights.coverage * coverage + weights.nearness * (near ?? 0);
  return 1 / (1 + Math.exp(-sum));
}

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

/** A background needs some hits that do not answer. */
const BACKGROUND_MIN = 10;

/**
 * How near the best vector is. Hashed ones of unlike texts are at right angles; with learnt ones any two texts are somewhat
 * alike, one model's more than another's, so there it counts how far the best stands out from the middle of the leg.
 */
function nearness({ vectors }: RankQuestion, hits: readonly IndexHit[]): number | null {
  const cosines = hits.flatMap(({ vectorScore }) => vectorScore ?? []).sort((a, b) => b - a);
  const [best] = cosines;
  if (best === undefined) return null;
  const middle = cosines[Math.floor(cosines.length / 2)] ?? 0;
  if (vectors.kind === 'hashed' || cosines.length < BACKGROUND_MIN || middle >= 1) return Math.max(0, best);
  return Math.max(0, (best - middle) / (1 - middle));
}
