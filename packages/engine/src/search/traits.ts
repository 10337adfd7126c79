import type { Vectors } from '../models/vectors.ts';
import type { IndexHit } from '../ports/search-index.ts';
import { termSet, terms } from '../text/terms.ts';
import { type Topics, topicsOf } from '../text/topics.ts';
import { highest } from './hits.ts';
import type { RankedHit, RankQuestion } from './rank.ts';
import type { ReadHit, ReadText } from './read-text.ts';
import { aboutOthers, askedAbout } from './subjects.ts';

/** By what the hits of a question are compared: which kind of vectors, or words where it had none. */
export type ComparedBy = Vectors['kind'] | 'words';

/** What tells whether one hit answers a question: numbers, mostly of 0 to 1. */
export interface Trait {
  readonly none: 1;
  /** The share of the question's words that it has, rare ones counting more. */
  readonly words: number;
  /** How much less that is than the most of any hit. */
  readonly fewerWords: number;
  /** What the keyword search gave it, compared with its best, and by itself: that counts what it came from, too. */
  readonly keyword: number;
  readonly strength: number;
  /** How near its vector is, and how much further than the nearest. */
  readonly near: number;
  readonly further: number;
  /** By how many standard deviations it is nearer than the hits are on average, a quarter of it. */
  readonly standsOut: number;
  /** Squares of these: a vector that is twice as near is more than twice as likely to answer. */
  readonly veryNear: number;
  readonly veryFar: number;
  /** How near it is by what was measured of the embedder: 0 as what has nothing to do with a question, 1 as an answer. */
  readonly measured: number;
  /** It has no word of the question; and how near and how far it is then. */
  readonly wordless: number;
  readonly wordlessMeasured: number;
  readonly wordlessNear: number;
  readonly wordlessFurther: number;
  /** Nor is it about any of the topics that are known of the question; and how near it is then. */
  readonly beside: number;
  readonly besideMeasured: number;
  /** How well it fits compared with the first, by all that orders the hits except ratings. */
  readonly ranked: number;
  /** How much of what the question is about it is about, and how much of what either is about both are. */
  readonly topics: number;
  readonly alike: number;
  /** The topics, as far as it is near. */
  readonly topicsNear: number;
  /** No topic of the question is known. */
  readonly odd: number;
  readonly oddWords: number;
  /** It is about somebody else. */
  readonly others: number;
  /** A day, a number, a place or a name is asked for, and it has none. */
  readonly lacks: number;
}

export interface Traits {
  readonly hits: readonly Trait[];
  /** Topics of the question are known, and none of the hits is about them. */
  readonly untold: number;
}

export function traitsOf(
  question: RankQuestion,
  found: readonly Pick<RankedHit, 'hit' | 'unrated'>[],
  comparedBy: ComparedBy,
): Traits {
  const hits = found.map(({ hit }) => hit);
  const words = wordsOf(question, hits);
  const cosines = hits.map(({ vectorScore }) => (comparedBy === 'words' ? 0 : (vectorScore ?? 0)));
  const near = comparedBy === 'learnt' ? aboveTheMiddle(question.vectors, cosines) : cosines;
  const measured = measuredBy(question.vectors, cosines);
  const standsOut = deviations(cosines);
  const { topics, alike, known } = topicsIn(question, hits);
  const alikes = alike();
  const isOther = aboutOthers(question.text);
  const lacks = lacksWanted(question.text);
  const keywords = hits.map(({ keywordScore }) => keywordScore ?? 0);
  const mostKeyword = Math.max(highest(keywords), Number.MIN_VALUE);
  const [mostWords, nearest] = [Math.max(...words), Math.max(...near)];
  const odd = known ? 0 : 1;
  return {
    untold: known && topics.every((share) => share === 0) ? 1 : 0,
    hits: found.map(({ hit: { read }, unrated }, i) => {
      const further = nearest - at(near, i);
      const wordless = at(words, i) === 0 ? 1 : 0;
      const beside = known && at(topics, i) === 0 ? wordless : 0;
      return {
        none: 1,
        words: at(words, i),
        fewerWords: mostWords - at(words, i),
        keyword: at(keywords, i) / mostKeyword,
        strength: Math.min(1, at(keywords, i) / STRONG),
        near: at(near, i),
        further,
        standsOut: at(standsOut, i),
        veryNear: at(near, i) ** 2,
        veryFar: further ** 2,
        measured: at(measured, i),
        wordless,
        wordlessMeasured: wordless * at(measured, i),
        wordlessNear: wordless * at(near, i),
        wordlessFurther: wordless * further,
        beside,
        besideMeasured: beside * at(measured, i),
        ranked: unrated.relative,
        topics: at(topics, i),
        alike: at(alikes, i),
        topicsNear: at(topics, i) * at(near, i),
        odd,
        oddWords: odd * at(words, i),
        others: isOther(read) ? 1 : 0,
        lacks: lacks?.(withoutSubject(read)) === true ? 1 : 0,
      };
    }),
  };
}

/** A keyword score of two or three rare words, in a store of some dozens of memories. */
const STRONG = 10;

const at = (numbers: readonly number[], i: number): number => numbers[i] ?? 0;

/** A word that is twice in a text, as in a fact and in what it came from, counts this much. */
const TWICE = 1.3;
/** Words of which a text may be full whatever it is about count so much of their rarity. */
const LIGHT = 0.4;
const LIGHT_WORDS: ReadonlySet<string> = new Set(
  terms(`
    get go take make put want use need keep give come see look say think find thing lot have like become try let run set
    call bring hold turn start begin work one two much many last first new old good big every day week month year time
    always never still usually often really something anything people person way kind sort name type`),
);

/** Who asks what somebody does for a living does not ask where they live. */
const IDIOMS = /\b(?:for|makes?|made|making) a living\b/giu;

/**
 * The share of the question's words that each hit has, rare ones counting more: in its text, or in what it came from. Words that
 * name whom a question is about say nothing of what it asks.
 */
function wordsOf({ text, terms: asked }: RankQuestion, hits: readonly ReadHit[]): readonly number[] {
  const texts = hits.map(({ read }) => read.terms);
  const names = termSet(askedAbout(text)?.phrase ?? '');
  const idioms = new Set((text.match(IDIOMS) ?? []).flatMap(terms));
  const all = [...new Set(asked)].map((term) => {
    const has = texts.map((own) => own.has(term));
    return { term, has, rarity: rarity(countTrue(has), texts.length) };
  });
  const said = all.filter(({ term }) => !idioms.has(term));
  const content = said.filter(({ term }) => !names.has(term));
  const weighing = (content.length === 0 ? said : content).map(({ term, has, rarity }) => ({
    has,
    weight: rarity * (LIGHT_WORDS.has(term) ? LIGHT : 1),
  }));
  const most = weighing.reduce((sum, { weight }) => sum + weight, 0);
  if (most === 0) return hits.map(() => 0);
  const own = sumsOf(
    hits,
    all.map(({ has, rarity }) => ({ has, weight: rarity })),
  );
  const beyond = beyondText(hits, own);
  return sumsOf(hits, weighing).map((sum, i) => Math.min(1, (sum + (beyond[i] ?? 0)) / most));
}

/** A word of the question, and which of the hits have it. */
interface Weighing {
  readonly has: readonly boolean[];
  readonly weight: number;
}

/** The weights of the words that each hit has. */
function sumsOf(hits: readonly ReadHit[], words: readonly Weighing[]): readonly number[] {
  const sums = hits.map(() => 0);
  for (const { has, weight } of words) {
    for (let i = 0; i < sums.length; i += 1) if (has[i] === true) sums[i] = (sums[i] ?? 0) + weight;
  }
  return sums;
}

const countTrue = (some: readonly boolean[]): number => some.reduce((count, one) => (one ? count + 1 : count), 0);

/**
 * What the keyword search counted beside the words of a hit's own text: those of what it came from. Rarities of all memories are
 * higher than those among the hits, by as much as where the hit's own words explain its score best.
 */
function beyondText(hits: readonly IndexHit[], own: readonly number[]): readonly number[] {
  const scores = hits.map(({ keywordScore }) => (keywordScore ?? 0) / TWICE);
  const ratios = scores.flatMap((score, i) => (score > 0 && (own[i] ?? 0) > 0 ? score / (own[i] ?? 1) : []));
  const scale = ratios.length === 0 ? 1 : Math.max(1, Math.min(...ratios));
  return scores.map((score, i) => Math.max(0, score / scale - (own[i] ?? 0)));
}

const rarity = (having: number, of: number): number => Math.log(1 + (of - having + 0.5) / (having + 0.5));

/** Of fewer hits the middle tells nothing. */
const BACKGROUND_MIN = 10;

/** null: there are too few. */
const middleOf = (cosines: readonly number[]): number | null =>
  cosines.length < BACKGROUND_MIN ? null : (cosines.toSorted((a, b) => b - a)[Math.floor(cosines.length / 2)] ?? 0);

/**
 * Any two texts are somewhat alike to a model, to one model more than to another: so it counts how far one is above the middle,
 * as a share of how far answers are from what has nothing to do with a question.
 */
function aboveTheMiddle({ questions: { apart, answer } }: Vectors, cosines: readonly number[]): readonly number[] {
  const middle = middleOf(cosines) ?? (apart + answer) / 2;
  return cosines.map((cosine) => (cosine - middle) / (answer - apart));
}

const MEASURED_LEAST = -1;
const MEASURED_MOST = 2;

/**
 * On the scale that was measured of the embedder. Where nearly all is nearer than what has nothing to do with a question, as in a
 * language that the model hardly knows, all of it counts as that much further away.
 */
function measuredBy({ questions: { apart, apartMost, answer } }: Vectors, cosines: readonly number[]) {
  const over = Math.max(0, (middleOf(cosines) ?? 0) - apartMost);
  return cosines.map((cosine) =>
    Math.max(MEASURED_LEAST, Math.min(MEASURED_MOST, (cosine - apart - over) / (answer - apart))),
  );
}

function deviations(cosines: readonly number[]): readonly number[] {
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  const deviation = Math.sqrt(cosines.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / cosines.length);
  return cosines.map((cosine) => (deviation === 0 ? 0 : (cosine - mean) / deviation / 4));
}

/**
 * How much of what the question is about each hit is about, rare topics counting more; and how much of either both are. What her
 * wife plays is not about marriage.
 */
export function topicsIn({ text }: Pick<RankQuestion, 'text'>, hits: readonly ReadHit[]) {
  const asked = [...topicsOf(text.replace(askedAbout(text)?.phrase ?? '', ' '))];
  // No text has to be read to see that it shares nothing with nothing.
  const none = hits.map(() => 0);
  if (asked.length === 0) return { known: false, topics: none, alike: () => none };
  const told = hits.map(({ read }) => read.topics);
  const weights = asked.map(
    ([topic, weight]) =>
      [topic, weight * rarity(told.filter((topics) => topics.has(topic)).length, told.length)] as const,
  );
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return {
    known: true,
    topics: told.map(
      (topics) => weights.reduce((sum, [topic, weight]) => sum + weight * (topics.get(topic) ?? 0), 0) / (all || 1),
    ),
    alike: () => told.map((topics) => alikeIn(new Map(asked), topics)),
  };
}

/** How much of what either is about both are. */
function alikeIn(asked: Topics, told: Topics): number {
  let [shared, either] = [0, 0];
  for (const topic of new Set([...told.keys(), ...asked.keys()])) {
    const [here, there] = [asked.get(topic) ?? 0, told.get(topic) ?? 0];
    shared += Math.min(here, there);
    either += Math.max(here, there);
  }
  return either === 0 ? 0 : shared / either;
}

/*
 * What a question asks for: what kind of thing it wants, and what of it only asks.
 */

/** What a question wants to be told, and how a text shows that it tells such a thing. */
interface Wanted {
  readonly asks: RegExp;
  readonly tells: RegExp;
}

const TIME: Wanted = {
  asks: /\b(?:when|how often|how soon|what (?:date|day|month|year|time)|which (?:day|month|year))\b|什么时候|何时|哪[一]?[天年月日]|几[点号月]|多久|多长时间|いつ|何[時日年月]|언제/iu,
  tells:
    /\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weekend|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|since|recently|morning|noon|afternoon|evening|night|midnight|daily|weekly|monthly|[ap]m)\b|\d{4}|\d:\d\d|\b\d{1,2}(?:st|nd|rd|th)\b|\bat \d|昨[天日晚]|今[天日年晚]|明[天年]|前[天年]|去年|[上下每][周个天年]|早上|晚上|[年月日号点]|きのう|先[週月]|来[週月]|어제|오늘|내일/iu,
};

/** Also asked for: times, by how long. */
const AMOUNT: Wanted = {
  asks: /\bhow (?:many|much|old|long|tall|far|high|big|large|often|heavy|fast|expensive)\b/iu,
  tells:
    /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|once|twice|dozen|several)\b/iu,
};

const PLACE: Wanted = {
  asks: /\b(?:where|which (?:city|town|country|place))\b/iu,
  tells: /\b(?:in|at|to|from|near|on|by|off|under|behind|into|around)\s+(?:the\s+|an?\s+)?\p{L}/iu,
};

const PERSON: Wanted = { asks: /\b(?:who|whom|whose)\b/iu, tells: /\s\p{Lu}\p{Ll}/u };

/** The first that fits counts: at what time somebody meets whom is a question for a time. */
const KINDS = [TIME, AMOUNT, PLACE, PERSON];

/** Whether a text lacks the kind of thing that a question wants: a day, a number, a place, a name. null: of such a question nothing is known. */
export function lacksWanted(question: string): ((text: string) => boolean) | null {
  const kind = KINDS.find(({ asks }) => asks.test(question));
  return kind === undefined ? null : (text) => !kind.tells.test(text);
}

/** "User's brother Tom lives in Porto" names Porto: that it is about Tom, or about whom ever the first word names, answers nothing. */
const withoutSubject = ({ text, told }: ReadText): string =>
  told === null ? text.replace(/^\s*\S+/u, '') : text.slice(told.phrase.length);

export const asksTime = (question: string): boolean => TIME.asks.test(question) || /\bhow long\b/iu.test(question);
export const tellsTime = (text: string): boolean => TIME.tells.test(text);

/** Who asks, or is asked about without a name, with the verb that only asks. */
const ASKER = /\b(?:(?:does|do|did|is|are|am|was|were|has|have|had)\s+)?(?:she|he|they|I)\b\s*/giu;
const MARK = /\s*[?？]+\s*$/u;
const ASKERS_OWN = /\b(?:her|his|my|their|him|me|them)\b\s*/giu;

/**
 * What a question asks for, without words for who asks, and without its mark: of "What does she do for a living?" it is "What do for a living". To a
 * model's vectors these words are as much as the others, though all that is known of somebody is about them. It knows English
 * alone. "Who is she?" asks for nothing else, and stays as it is.
 */
export function withoutAsker(question: string): string {
  const left = question.replace(ASKER, '').replace(ASKERS_OWN, '').replace(MARK, '');
  return terms(left).length === 0 ? question : left;
}
