import type { IndexHit } from '../ports/search-index.ts';
import { STOP_WORDS, termSet, terms } from '../text/terms.ts';
import type { Millis } from '../words.ts';
import { highest, saysAt } from './hits.ts';
import type { RankQuestion } from './rank.ts';
import { asksTime, tellsTime } from './wanted.ts';

/**
 * Taken from what itself asks: it has the words of the question, the answer stands behind it. Gains 1.5 points of R@1 and 1
 * of R@10 on raw messages; facts do not ask.
 */
const ASKS = 0.1;

/** Ends with a question mark of any script, before quotes, brackets, emoji, or the description of an image. */
const QUESTION_END = /[?？؟](?:["'”’」』)\]\s]|\p{Extended_Pictographic}|\ufe0f)*(?:\n\[image[^\]]*\])?$/u;

export function asking(hits: readonly IndexHit[]): readonly number[] {
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

export function freshness({ at }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
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
export function speaker({ terms: asked }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
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

export function subject({ text }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
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

export function time({ text }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
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
export function shared({ terms: asked }: RankQuestion, hits: readonly IndexHit[], scores: readonly number[]) {
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
