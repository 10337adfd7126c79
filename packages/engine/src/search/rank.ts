import type { IndexHit } from '../ports/search-index.ts';
import { STOP_WORDS, terms } from '../text/terms.ts';
import { compareSaid, type Millis, type SaidAt } from '../words.ts';
import { compareIds, foundBy, fusion, highest, type Legs, saysAt } from './hits.ts';
import { cutText, type ReadHit, readHit } from './read-text.ts';
import { asksTime, tellsTime, topicsIn } from './traits.ts';

/** What was asked, as far as the order of its answers depends on it. */
export interface RankQuestion extends Legs {
  readonly text: string;
  /** The terms the keyword leg was asked for. */
  readonly terms: readonly string[];
  /** The moment that is asked about: now, or that of as_of. */
  readonly at: Millis;
}

export interface RankedHit {
  readonly hit: ReadHit;
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
  readonly hit: ReadHit;
  readonly sum: number;
  readonly unrated: number;
  readonly place: number;
}

/** Highest sum first, each compared with the best of those before ratings: so a rating moves one memory alone. */
export function ordered(hits: readonly SummedHit[]): RankedHit[] {
  const placed = hits.map((one) => ({ one, place: 0 }));
  const fitting = placed.toSorted((a, b) => b.one.unrated - a.one.unrated || a.one.place - b.one.place);
  for (const [place, one] of fitting.entries()) one.place = place;
  const top = fitting[0]?.one.unrated ?? 0;
  const share = (sum: number): number => (top <= 0 ? 0 : Math.min(1, Math.max(0, sum) / top));
  return placed
    .sort((a, b) => b.one.sum - a.one.sum)
    .map(({ one: { hit, sum, unrated }, place }) => ({
      hit,
      relative: share(sum),
      unrated: { relative: share(unrated), place },
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
function sharesOf(wanted: ReadonlySet<FactorName>, question: RankQuestion, hits: readonly ReadHit[]): Shares {
  const fused = fusion(question, hits);
  const none: Shares = { fused, factors: [], sums: fused, unrated: fused };
  if (question.mode === 'vector') return none;
  return FACTORS.filter((name) => wanted.has(name)).reduce<Shares>(({ factors, sums }, name) => {
    const added = ADDED[name](question, hits, sums);
    const next = sums.map((sum, i) => sum + (added[i] ?? 0));
    return { fused, factors: [...factors, [name, added]], sums: next, unrated: name === 'feedback' ? sums : next };
  }, none);
}

type Added = (question: RankQuestion, hits: readonly ReadHit[], sums: readonly number[]) => readonly number[];

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
interface RankReason {
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

export const nameOfHit = ({ point }: Pick<IndexHit, 'point'>): string => `${point.memoryId} ${point.version}`;

const inRankOrder = ({ mode }: RankQuestion, hits: readonly IndexHit[]): ReadHit[] =>
  hits.flatMap((hit) => (foundBy(mode, hit) ? [readHit(hit)] : [])).sort(compareHits);

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
  const said = hits.map(({ point }) => point.saidAt);
  const inOrder = said.map((_, i) => i).sort((a, b) => (said[a] as SaidAt).seq - (said[b] as SaidAt).seq || a - b);
  // Of doubles from the beginning: code that was compiled for whole numbers would be thrown away.
  const best = new Float64Array(hits.length);
  for (const [place, i] of inOrder.entries()) {
    for (let next = place + 1; next < inOrder.length; next += 1) {
      const j = inOrder[next] as number;
      const apart = (said[j] as SaidAt).seq - (said[i] as SaidAt).seq;
      if (apart > MESSAGES_APART) break;
      if (Math.abs((said[j] as SaidAt).at - (said[i] as SaidAt).at) > TIME_APART) continue;
      const nearness = 1 / Math.max(1, apart);
      best[i] = Math.max(best[i] as number, (scores[j] as number) * nearness);
      best[j] = Math.max(best[j] as number, (scores[i] as number) * nearness);
    }
  }
  return Array.from(best, (score) => NEIGHBOUR_SHARE * score);
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

/**
 * Taken from what itself asks: it has the words of the question, the answer stands behind it. Gains 1.5 points of R@1 and 1
 * of R@10 on raw messages; facts do not ask.
 */
const ASKS = 0.1;

/** Ends with a question mark of any script, before quotes, brackets, emoji, or the description of an image. */
const QUESTION_END = /[?？؟](?:["'”’」』)\]\s]|\p{Extended_Pictographic}|\ufe0f)*(?:\n\[image[^\]]*\])?$/u;

function asking(hits: readonly IndexHit[]): readonly number[] {
  return hits.map(({ point }) => (QUESTION_END.test(point.text.slice(-TAIL)) ? -ASKS : 0));
}

/** UTF-16 units that are looked at: an end and an image's description. */
const TAIL = 300;

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

function freshness({ at }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const holding = new Set(hits.flatMap(({ point }) => (saysAt(point, at) ? [point.memoryId] : [])));
  return hits.map(({ point }) => {
    const age = Math.max(0, at - point.saidAt.at);
    const often = 1 - 1 / (1 + Math.max(0, point.confirmations));
    const former = !saysAt(point, at) && holding.has(point.memoryId) ? FORMER : 0;
    return FRESH * 0.5 ** (age / HALF_LIFE) + CONFIRMED * often + former;
  });
}

/**
 * What somebody said counts more where the question names them: of two who talk about the same, the other one mentions
 * the name and this one has the story. Gains 8 points of R@1 and 4 of R@5 on raw messages.
 */
const NAMED_SPEAKER = 0.3;

/** A question that names several people is about all of them, and nobody is put before the other. */
function speaker({ terms: asked }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const words = new Set(asked);
  const names = new Set(hits.flatMap(({ point }) => point.speaker ?? []));
  const named = [...names].filter((name) => isNamed(name, words));
  if (named.length !== 1) return hits.map(() => 0);
  return hits.map(({ point }) => (point.speaker === named[0] ? NAMED_SPEAKER : 0));
}

/** By all parts of the name, or by the first one, as people do. */
function isNamed(name: string, words: ReadonlySet<string>): boolean {
  const parts = terms(name);
  const [first] = name.trim().split(/\s+/);
  const short = terms(first ?? '');
  return parts.length > 0 && (parts.every((part) => words.has(part)) || short.every((part) => words.has(part)));
}

/**
 * A fact that begins with whom the question names is about them; one that only mentions them, or begins with somebody of
 * theirs, is not. Parts near-duplicates: who has the dog, and whose sister has it. There it gains .05 to
 * .1 of MRR; elsewhere it changes nothing.
 */
const NAMED_SUBJECT = 0.15;

const START = /^\s*(?<name>\p{Lu}[\p{L}\p{M}\p{N}-]*)(?:['’]s\s+(?<whose>[\p{L}\p{M}\p{N}]+)|\s+\p{L})/u;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** What follows a name that is only called: Ann, you too? */
const CALLED = /^[^\p{L}\p{N}]/u;
/** Between an owner and what is theirs, in Chinese, Japanese and Korean. */
const OF = /^[的の의]/u;
/** Shorter is no name where words are not separated; longer is the beginning of a sentence. */
const NAME_MIN = 2;
const NAME_MAX = 4;

function subject({ text }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const question = text.normalize('NFKC').toLowerCase();
  const words = new Set(question.match(/[\p{L}\p{M}\p{N}-]+/gu) ?? []);
  return hits.map(({ point }) => (isAbout(point.text, question, words) ? NAMED_SUBJECT : 0));
}

function isAbout(text: string, question: string, words: ReadonlySet<string>): boolean {
  if (UNSPACED.test(text)) return beginsAlike(text, question);
  const { name, whose } = START.exec(text)?.groups ?? {};
  const first = name?.toLowerCase();
  if (first === undefined || STOP_WORDS.has(first) || !words.has(first)) return false;
  return whose === undefined || words.has(whose.toLowerCase());
}

/** 王小芳养了狗 is about 王小芳; 王小芳的妹妹养了狗 only where the question goes on with 的妹 as well. */
function beginsAlike(text: string, question: string): boolean {
  for (let length = NAME_MAX; length >= NAME_MIN; length -= 1) {
    const place = question.indexOf(text.slice(0, length));
    if (place === -1) continue;
    const rest = text.slice(length);
    if (CALLED.test(rest)) return false;
    return !OF.test(rest) || question.slice(place + length).startsWith(rest.slice(0, NAME_MIN));
  }
  return false;
}

/** What names a time counts more where a time is asked for. Gains half a point of R@1. */
const TELLS_TIME = 0.05;

function time({ text }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  if (!asksTime(text)) return hits.map(() => 0);
  return hits.map(({ point }) => (tellsTime(point.text) ? TELLS_TIME : 0));
}

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
/** UTF-16 units of a text that are read: the beginning of a long one says what it is about. */
const TEXT_MAX = 300;

/**
 * Pseudo-relevance feedback: what the best hits have in common, and others have not, is asked for once more, of the hits
 * alone. So no second question goes to the index.
 */
function shared({ terms: asked }: RankQuestion, hits: readonly ReadHit[], scores: readonly number[]) {
  const order = bestFirst(scores).slice(0, READ);
  const read = order.flatMap((i) => {
    const hit = hits[i];
    return hit === undefined ? [] : [{ words: cutText(hit, TEXT_MAX).read.terms, score: scores[i] ?? 0 }];
  });
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
