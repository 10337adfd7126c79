import type { IndexHit } from '../ports/search-index.ts';
import { overlap, termSet, terms } from '../text/terms.ts';
import { topicsOf } from '../text/topics.ts';
import { highest, type VectorKind } from './hits.ts';
import { aboutOthers } from './person.ts';
import type { RankedHit, RankQuestion } from './rank.ts';

/** How the vectors of a question's hits tell what is near; words: it had none. */
type Calibration = VectorKind | 'words';

/**
 * Weights of logistic regressions, for the log odds that a hit answers the question. Of one seed of ./scripts/bench precision, each
 * question asked twice: as it is, and as if no topic were known. So what no topic is known of is judged by words and vectors alone.
 */
const HIT = {
  hashed: {
    none: -5.49,
    words: -1.3,
    fewerWords: -2.3,
    near: 6.98,
    further: 0,
    topics: 3.78,
    alike: 2.77,
    others: -4.99,
    odd: 0.79,
    oddWords: 3.16,
  },
  learnt: {
    none: -4.59,
    words: -1.92,
    fewerWords: -1.23,
    near: 8.45,
    further: -6.21,
    topics: 3.59,
    alike: 3.36,
    others: -4.86,
    odd: 1,
    oddWords: 3.07,
  },
  words: {
    none: -4.9,
    words: 1.04,
    fewerWords: -2.38,
    near: 0,
    further: 0,
    topics: 4.84,
    alike: 4.24,
    others: -5.03,
    odd: 0.87,
    oddWords: 4.99,
  },
} as const;

/** The same for the log odds that anything does: by the best hit, and by the words of all. */
const ANY = {
  hashed: {
    none: 2.27,
    best: 0.69,
    bestWords: -1.49,
    bestNear: -1.55,
    others: -2.49,
    words: 1.59,
    odd: 0.32,
    oddWords: -0.26,
    untold: -2.31,
    untoldWords: 2.19,
  },
  learnt: {
    none: 2.06,
    best: 0.97,
    bestWords: -0.94,
    bestNear: -2.82,
    others: -2.92,
    words: 1.08,
    odd: 0.31,
    oddWords: 0.05,
    untold: -1.79,
    untoldWords: 1.32,
  },
  words: {
    none: 1.74,
    best: 0.6,
    bestWords: -1.07,
    bestNear: 0,
    others: -2.42,
    words: 1.05,
    odd: 0.77,
    oddWords: -0.99,
    untold: -2.1,
    untoldWords: 1.9,
  },
} as const;

/** Less sure that anything answers, nothing is shown. */
const ANY_LEAST = 0.4;
/** What is this much less likely to answer than the best hit is not shown. */
const HIT_LEAST: Readonly<Record<Calibration, number>> = { hashed: 0.25, learnt: 0.15, words: 0.25 };

/** The hits that answer the question, in their order; near-duplicates at most twice. None, where nothing does. */
export function relevant(asked: RankQuestion, ranked: readonly RankedHit[]): readonly RankedHit[] {
  if (ranked.length === 0 || asked.mode === 'vector') return ranked;
  const question = withoutAsking(asked);
  if (question === null) return withoutRepeats(ranked);
  const sure = answering(question, ranked);
  return withoutRepeats(sure.length > 0 ? sure : likeliestOfFew(question, ranked));
}

/** Words that ask, and name nothing that is asked for: what do you know about …, tell me …, what happened in …. */
const ASKING =
  /\b(?:know|known|tell|told|remember|recall|happen|happens|happened|happening|anything|everything|something)\b/giu;

/** The question by what it asks for; null where it asks for all there is. */
function withoutAsking(question: RankQuestion): RankQuestion | null {
  const text = question.text.replace(ASKING, ' ');
  if (text === question.text) return question;
  const left = terms(text);
  return left.length === 0 ? null : { ...question, text, terms: left };
}

function answering(question: RankQuestion, ranked: readonly RankedHit[]): readonly RankedHit[] {
  const hits = ranked.map(({ hit }) => hit);
  const { calibration, traits, chances } = judged(question, hits);
  const best = Math.max(...chances);
  if (calibration !== 'learnt' && !traits.hits.some(isSupported)) return [];
  const answered = sureOf(traits, { chances, calibration }) >= ANY_LEAST;
  const answers = (i: number): boolean => answered && (chances[i] ?? 0) >= HIT_LEAST[calibration] * best;
  return ranked.filter((_, i) => answers(i) || says(traits.hits[i]));
}

/** Of so few memories nobody knows which words are rare, or what goes unsaid. */
const FEW = 10;
/** What every memory of a user may begin with. */
const USER = 'user';

/** Where few are known at all, those with the most words of the question, unless they are about somebody else. */
function likeliestOfFew(question: RankQuestion, ranked: readonly RankedHit[]): readonly RankedHit[] {
  const isAll = ranked.every(({ hit }) => hit.vectorScore !== null);
  if (!isAll || ranked.length >= FEW) return [];
  const asked = new Set(question.terms.filter((term) => term !== USER));
  const shared = ranked.map(({ hit }) => [...termSet(hit.point.text)].filter((term) => asked.has(term)).length);
  const most = Math.max(...shared);
  const isOther = aboutOthers(question.text);
  return most === 0 ? [] : ranked.filter(({ hit }, i) => shared[i] === most && !isOther(hit.point.text));
}

/** How likely each hit answers the question, 0…1, and what that follows from. */
function judged(question: RankQuestion, hits: readonly IndexHit[]) {
  const near = question.mode !== 'keyword' && highest(hits.map((hit) => hit.vectorScore)) > 0;
  const calibration = near ? question.vectors : 'words';
  const traits = traitsOf(question, hits, calibration);
  return {
    calibration,
    traits,
    chances: traits.hits.map((trait) => sigmoid(weighed(HIT[calibration], trait))),
  } as const;
}

/** What tells whether a hit answers. */
type Trait = Readonly<Record<keyof (typeof HIT)['hashed'], number>>;

interface Traits {
  readonly hits: readonly Trait[];
  /** No topic of the question is known. */
  readonly odd: number;
  /** Its topics are known, and none of the hits is about them. */
  readonly untold: number;
}

function traitsOf(question: RankQuestion, hits: readonly IndexHit[], calibration: Calibration): Traits {
  const words = wordsOf(question, hits);
  const near = nearnessOf(hits, calibration);
  const { topics, alike, known } = topicsIn(question, hits);
  const isOther = aboutOthers(question.text);
  const [mostWords, nearest] = [Math.max(...words), Math.max(...near)];
  const odd = known ? 0 : 1;
  return {
    odd,
    untold: known && topics.every((share) => share === 0) ? 1 : 0,
    hits: hits.map(({ point }, i) => ({
      none: 1,
      words: words[i] ?? 0,
      near: near[i] ?? 0,
      further: nearest - (near[i] ?? 0),
      topics: topics[i] ?? 0,
      alike: alike[i] ?? 0,
      others: isOther(point.text) ? 1 : 0,
      fewerWords: mostWords - (words[i] ?? 0),
      odd,
      oddWords: odd * (words[i] ?? 0),
    })),
  };
}

/** It has all the words of the question, and is not about another subject: whoever asks for a word finds what has it. */
const says = (trait: Trait | undefined): boolean =>
  trait !== undefined && trait.words >= ALL && trait.others === 0 && (trait.odd === 1 || trait.topics > 0);
const ALL = 0.999;

/** Hashed vectors are about as near as this by chance. */
const BY_CHANCE = 0.15;

/** Has a word of the question, or is about it. Where nothing is, only a model's vectors could tell. */
const isSupported = ({ words, topics, near }: Trait): boolean => words > 0 || topics > 0 || near > BY_CHANCE;

function sureOf(
  { hits, odd, untold }: Traits,
  { chances, calibration }: { readonly chances: readonly number[]; readonly calibration: Calibration },
): number {
  const best = chances.indexOf(Math.max(...chances));
  const chance = chances[best] ?? 0;
  const words = Math.max(...hits.map((trait) => trait.words));
  return sigmoid(
    weighed(ANY[calibration], {
      none: 1,
      best: Math.log(chance / (1 - chance)),
      bestWords: hits[best]?.words ?? 0,
      bestNear: hits[best]?.near ?? 0,
      others: hits[best]?.others ?? 0,
      odd,
      words,
      oddWords: odd * words,
      untold,
      untoldWords: untold * words,
    }),
  );
}

const weighed = <Name extends string>(
  weights: Readonly<Record<Name, number>>,
  values: Readonly<Record<Name, number>>,
): number => (Object.keys(weights) as Name[]).reduce((sum, name) => sum + weights[name] * values[name], 0);

const sigmoid = (odds: number): number => 1 / (1 + Math.exp(-odds));

/** A word that is twice in a text, as in a fact and in what it came from, counts this much. */
const TWICE = 1.3;

/** The share of the question's words, rare ones counting more, that each hit has: in its text, or in what it came from. */
function wordsOf({ terms }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const texts = hits.map(({ point }) => termSet(point.text));
  const weights = [...new Set(terms)].map(
    (term) => [term, rarity(texts.filter((text) => text.has(term)).length, texts.length)] as const,
  );
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  if (all === 0) return hits.map(() => 0);
  return hits.map(({ keywordScore }, i) => {
    const own = weights.reduce((sum, [term, weight]) => sum + (texts[i]?.has(term) === true ? weight : 0), 0);
    return Math.max(own / all, Math.min(1, (keywordScore ?? 0) / (TWICE * all)));
  });
}

const rarity = (having: number, of: number): number => Math.log(1 + (of - having + 0.5) / (having + 0.5));

/** Of fewer hits the middle tells nothing; unlike texts are about as near as this to a small model. */
const BACKGROUND_MIN = 10;
const BACKGROUND = 0.2;

/** Any two texts are somewhat alike to a model, to one model more than to another: so it counts how far one is above the middle. */
function nearnessOf(hits: readonly IndexHit[], calibration: Calibration): readonly number[] {
  if (calibration === 'words') return hits.map(() => 0);
  const cosines = hits.map(({ vectorScore }) => vectorScore ?? 0);
  if (calibration === 'hashed') return cosines;
  const sorted = cosines.toSorted((a, b) => b - a);
  const middle = sorted.length < BACKGROUND_MIN ? BACKGROUND : (sorted[Math.floor(sorted.length / 2)] ?? 0);
  return cosines.map((cosine) => (middle >= 1 ? 0 : (cosine - middle) / (1 - middle)));
}

/** How much of what the question is about each hit is about, rare topics counting more; and how much of either both are. */
export function topicsIn({ text }: Pick<RankQuestion, 'text'>, hits: readonly IndexHit[]) {
  const asked = [...topicsOf(text)];
  const told = hits.map(({ point }) => topicsOf(point.text));
  const weights = asked.map(
    ([topic, weight]) =>
      [topic, weight * rarity(told.filter((topics) => topics.has(topic)).length, told.length)] as const,
  );
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return {
    known: asked.length > 0,
    topics: told.map(
      (topics) => weights.reduce((sum, [topic, weight]) => sum + weight * (topics.get(topic) ?? 0), 0) / (all || 1),
    ),
    alike: told.map((topics) => {
      const shared = asked.reduce((sum, [topic, weight]) => sum + Math.min(weight, topics.get(topic) ?? 0), 0);
      const either = [...new Map([...topics, ...asked]).keys()].reduce(
        (sum, topic) => sum + Math.max(topics.get(topic) ?? 0, asked.find(([one]) => one === topic)?.[1] ?? 0),
        0,
      );
      return either === 0 ? 0 : shared / either;
    }),
  };
}

/** Texts that have so many of their words in common say the same. */
const SAME = 0.9;
const SAME_MAX = 2;

function withoutRepeats(ranked: readonly RankedHit[]): readonly RankedHit[] {
  const kept: RankedHit[] = [];
  for (const one of ranked) {
    const words = termSet(one.hit.point.text);
    const like = kept.filter(
      ({ hit: { point } }) => point.memoryId !== one.hit.point.memoryId && overlap(termSet(point.text), words) >= SAME,
    );
    if (like.length < SAME_MAX) kept.push(one);
  }
  return kept;
}
