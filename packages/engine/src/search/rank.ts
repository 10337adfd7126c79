import type { IndexHit } from '../ports/search-index.ts';
import { compareSaid, type Millis } from '../words.ts';
import { asking, freshness, shared, speaker, subject, time } from './factors.ts';
import { compareIds, foundBy, fusion, type Legs } from './hits.ts';
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
  /** How well the hit fits compared with the one that fits best, 0…1; what was rated up or down a bit more or less. Orders; says nothing about whether anything answers. */
  readonly relative: number;
  /** The same before ratings, and which place the hit has by it: a rating does not change how sure an answer is. */
  readonly unrated: { readonly relative: number; readonly place: number };
}

/** Ranked hits as they would be if nothing were rated, by their places then. */
export const beforeRatings = (ranked: readonly RankedHit[]): readonly RankedHit[] =>
  ranked.toSorted((a, b) => a.unrated.place - b.unrated.place);

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
  return ordered(found.map((hit, i) => ({ hit, sum: sums[i] ?? 0, unrated: unrated[i] ?? 0, place: i })));
}

/** A hit by what it got; of equal ones the one with the lower place is first. */
interface SummedHit {
  readonly hit: IndexHit;
  readonly sum: number;
  readonly unrated: number;
  readonly place: number;
}

/** Highest sum first, each compared with the best of those before ratings: so a rating moves one memory alone. */
export function ordered(hits: readonly SummedHit[]): RankedHit[] {
  const fitting = hits.toSorted((a, b) => b.unrated - a.unrated || a.place - b.place);
  const places = new Map(fitting.map((one, place) => [one, place]));
  const top = fitting[0]?.unrated ?? 0;
  const share = (sum: number): number => (top <= 0 ? 0 : Math.min(1, Math.max(0, sum) / top));
  return hits
    .toSorted((a, b) => b.sum - a.sum)
    .map((one) => ({
      hit: one.hit,
      relative: share(one.sum),
      unrated: { relative: share(one.unrated), place: places.get(one) ?? 0 },
    }));
}

/** What the hits of a question got, in their order: from both legs, and from each factor beside them. */
interface Shares {
  readonly fused: readonly number[];
  readonly factors: readonly (readonly [name: FactorName, added: readonly number[]])[];
  readonly sums: readonly number[];
  /** The sums before ratings. */
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

/** Of equal ones the newest first; then by id, the same on every machine. */
const compareHits = (a: IndexHit, b: IndexHit): number =>
  compareSaid(b.point.saidAt, a.point.saidAt) || compareIds(a.point, b.point);

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
  hits.map((hit, i) => ratingOf(hit) * Math.max(0, sums[i] ?? 0));

/** The share of a sum, or of a score, that ratings add to it or take from it. */
export const ratingOf = ({ point }: IndexHit): number => FEEDBACK * (point.feedback ?? 0);

/** What is about what the question is about, also where they share no word. */
const TOPICS = 0.3;

const saidAt = (hits: readonly IndexHit[], i: number) => hits[i]?.point.saidAt ?? { at: 0, seq: 0 };
