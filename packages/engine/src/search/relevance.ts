import { terms } from '../text/terms.ts';
import { highest, isAllKnown } from './hits.ts';
import { beforeRatings, type RankedHit, type RankQuestion, ratingOf } from './rank.ts';
import { alikeBy, cutText, type ReadHit } from './read-text.ts';
import { aboutOthers, askedAbout } from './subjects.ts';
import { type ComparedBy, type Trait, type Traits, traitsOf } from './traits.ts';
import { ANY, ANY_LEAST, HIT, HIT_LEAST, HIT_LEAST_OF_BEST } from './weights.ts';

/**
 * How the hits that are shown were chosen. likelihood: by how likely each answers; few_known: so few are known that those with most
 * words of the question are shown; everything: the question asks for all there is; nothing: nothing answers.
 */
type CutBy = 'likelihood' | 'few_known' | 'everything' | 'nothing';

/** Where answers end, and why. */
export interface CutMade {
  /** In their order; near-duplicates at most twice. */
  readonly kept: readonly ScoredHit[];
  readonly by: CutBy;
}

/** Whether hits answer a question. null: it asks for all there is, or goes by vectors alone, or there are no hits. */
export type Judgement = Judged | null;

interface Judged {
  /** The question by what it asks for. */
  readonly question: RankQuestion;
  readonly comparedBy: ComparedBy;
  readonly traits: Traits;
  /** How likely anything answers, 0…1, and each hit, in the order of the hits before ratings, as traits are. */
  readonly answered: number;
  readonly chances: readonly number[];
  /** The least that each of both has to be. */
  readonly least: { readonly answered: number; readonly chance: number };
}

/**
 * How likely it is that the hits answer the question. Ratings do not count, not even by the order in which numbers are summed up: it is
 * that before ratings.
 */
export function judge(asked: RankQuestion, ranked: readonly RankedHit[]): Judgement {
  if (ranked.length === 0 || asked.mode === 'vector') return null;
  const question = withoutAsking(asked);
  if (question === null) return null;
  const near = question.mode !== 'keyword' && highest(ranked.map(({ hit }) => hit.vectorScore)) > 0;
  const comparedBy = near ? question.vectors.kind : 'words';
  const traits = traitsOf(question, beforeRatings(ranked), comparedBy);
  const odds = weighed(HIT[comparedBy]);
  const chances = traits.hits.map((trait) => sigmoid(odds(trait)));
  const isSupportedAtAll = comparedBy === 'learnt' || traits.hits.some(isSupported(question));
  const answered = isSupportedAtAll ? sureOf(traits, { chances, comparedBy }) : 0;
  const least = {
    answered: ANY_LEAST[comparedBy],
    chance: Math.max(HIT_LEAST, HIT_LEAST_OF_BEST[comparedBy] * Math.max(...chances)),
  };
  return { question, comparedBy, traits, answered, chances, least };
}

/** The hits that answer the question, none where nothing does, and what was decided by. */
export function cutAt({ mode }: RankQuestion, ranked: readonly ScoredHit[], judged: Judgement): CutMade {
  if (judged === null) return { kept: mode === 'vector' ? ranked : withoutRepeats(ranked), by: 'everything' };
  const { answered, chances, least, traits } = judged;
  const answers = (place: number): boolean => answered >= least.answered && (chances[place] ?? 0) >= least.chance;
  const sure = ranked.filter(({ unrated: { place } }) => answers(place) || says(traits.hits[place]));
  if (sure.length > 0) return { kept: withoutRepeats(sure), by: 'likelihood' };
  const likeliest = likeliestOfFew(judged.question, ranked);
  return { kept: withoutRepeats(likeliest), by: likeliest.length > 0 ? 'few_known' : 'nothing' };
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

/** Of so few memories nobody knows which words are rare, or what goes unsaid. */
const FEW = 10;

/** Where few are known at all, those with the most words of the question, unless they are about somebody else. */
function likeliestOfFew(question: RankQuestion, ranked: readonly ScoredHit[]): readonly ScoredHit[] {
  if (!isAllKnown(ranked.map(({ hit }) => hit)) || ranked.length >= FEW) return [];
  const asked = new Set(question.terms);
  const shared = ranked.map(({ hit }) => [...hit.read.terms].filter((term) => asked.has(term)).length);
  const most = Math.max(...shared);
  const isOther = aboutOthers(question.text);
  return most === 0 ? [] : ranked.filter(({ hit }, i) => shared[i] === most && !isOther(hit.read));
}

/** It has all the words of the question, and is not about another subject: whoever asks for a word finds what has it. */
const says = (trait: Trait | undefined): boolean =>
  trait !== undefined && trait.words >= ALL && trait.others === 0 && (trait.odd === 1 || trait.topics > 0);
const ALL = 0.999;

/** Hashed vectors are about as near as this by chance. */
const BY_CHANCE = 0.2;

/**
 * Has a word of the question, is about it, or is spelled alike and not only by the name of whom both are about. Where nothing is, only
 * a model's vectors could tell.
 */
function isSupported({ text }: RankQuestion): (trait: Trait) => boolean {
  const chance = askedAbout(text) === null ? BY_CHANCE : 1;
  return ({ words, topics, near }) => words > 0 || topics > 0 || near > chance;
}

function sureOf(
  { hits, untold }: Traits,
  { chances, comparedBy }: { readonly chances: readonly number[]; readonly comparedBy: ComparedBy },
): number {
  const place = chances.indexOf(Math.max(...chances));
  const [best, chance] = [hits[place], chances[place]];
  if (best === undefined || chance === undefined) return 0;
  const most = (name: keyof Trait): number => Math.max(...hits.map((trait) => trait[name]));
  const words = most('words');
  return sigmoid(
    weighed(ANY[comparedBy])({
      none: 1,
      best: Math.log(chance / (1 - chance)),
      bestWords: best.words,
      bestNear: best.near,
      bestMeasured: best.measured,
      mostMeasured: most('measured'),
      bestKeyword: best.keyword,
      bestStrength: best.strength,
      mostStrength: most('strength'),
      bestTopics: best.topics,
      bestAlike: best.alike,
      bestRanked: best.ranked,
      others: best.others,
      lacks: best.lacks,
      odd: best.odd,
      words,
      oddWords: best.odd * words,
      untold,
      untoldWords: untold * words,
    }),
  );
}

/** A weighted sum of values. What weighs nothing is left out: of most embedders that is half. */
function weighed<Name extends string>(weights: Readonly<Record<Name, number>>) {
  const weighing = (Object.keys(weights) as Name[]).filter((name) => weights[name] !== 0);
  return (values: Readonly<Record<Name, number>>): number =>
    weighing.reduce((sum, name) => sum + weights[name] * values[name], 0);
}

const sigmoid = (odds: number): number => 1 / (1 + Math.exp(-odds));

/** Texts that have so many of their words in common say the same. */
const SAME = 0.9;
const SAME_MAX = 2;

function withoutRepeats(ranked: readonly ScoredHit[]): readonly ScoredHit[] {
  const kept: ScoredHit[] = [];
  for (const one of ranked) {
    const { read, point } = one.hit;
    const like = kept.filter(({ hit }) => alikeBy(SAME, hit.read, read) && hit.point.memoryId !== point.memoryId);
    if (like.length < SAME_MAX) kept.push(one);
  }
  return kept;
}

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
function unratedScores(ranked: readonly RankedHit[], judged: Judgement): readonly number[] {
  if (judged === null) return ranked.map(() => 1);
  const likeliest = Math.max(...judged.chances);
  const hits = beforeRatings(ranked).map(({ hit }) => hit);
  const sure = sureness(judged, hits) / likeliest;
  return falling(judged.chances).map((chance) => Math.min(1, sure * chance));
}

/** Where as many memories are known, the weights hold as they are. */
const MANY = 30;

/**
 * How sure it is that anything answers, 0…1. Where the likeliest hit has words of the question, how strong these are counts as much as
 * what the cut goes by: that was fitted on lives, and people who talk share many words with questions about somebody else.
 *
 * What the cut goes by was also fitted on parts of lives, which were asked the questions of the whole: the smaller the part, the fewer
 * of them it answers, and the lower the odds that were learnt. Who has told little is asked about that. So the fewer memories are
 * known, the higher the odds; of the powers of their number the square root made the fewest mistakes at a threshold of .5.
 */
function sureness(judged: Judged, hits: readonly ReadHit[]): number {
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
function byWords({ question, comparedBy, traits }: Judged, hits: readonly ReadHit[]): number {
  const words = new Set(question.terms);
  const weights = comparedBy === 'words' ? WORDS_ALONE : BOTH_LEGS;
  const strength = highest(hits.map((hit) => hit.keywordScore)) / Math.sqrt(Math.max(1, words.size)) / rarest(hits);
  const coverage = highest(hits.slice(0, LOOKED_AT).map((hit) => shareIn(cutText(hit, TEXT_MAX).read.terms, words)));
  const nearness =
    comparedBy === 'learnt'
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
function rarest(hits: readonly unknown[]): number {
  const memories = hits.length < HITS_MANY ? Math.max(1, hits.length) : MEMORIES_ASSUMED;
  return Math.log(1 + (memories - 0.5) / 1.5);
}

/** The share of the question's words that a text has. */
function shareIn(own: ReadonlySet<string>, words: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
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
  return runs.flatMap((run) => new Array<number>(run.length).fill(meanOf(run) ** (1 / POWER)));
}

const meanOf = ({ sum, length }: { readonly sum: number; readonly length: number }): number => sum / length;

/** What is rated gets that share more or less, but no less than what it stays before, and no more than what it falls behind. */
function withRatings(ranked: readonly RankedHit[], unrated: readonly number[]): readonly ScoredHit[] {
  const scoreOf = (one: RankedHit): number => unrated[one.unrated.place] ?? 0;
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
