import { overlapsBy, termSet, terms } from '../text/terms.ts';
import { ANY, ANY_LEAST, HIT, HIT_LEAST, HIT_LEAST_OF_BEST } from './calibration.ts';
import { highest, isAllKnown } from './hits.ts';
import { aboutOthers, askedAbout } from './person.ts';
import { beforeRatings, type RankedHit, type RankQuestion } from './rank.ts';
import type { ScoredHit } from './score.ts';
import { type Calibration, type Trait, type Traits, traitsOf } from './traits.ts';

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

export interface Judged {
  /** The question by what it asks for. */
  readonly question: RankQuestion;
  readonly calibration: Calibration;
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
  const calibration = near ? question.vectors.kind : 'words';
  const traits = traitsOf(question, beforeRatings(ranked), calibration);
  const chances = traits.hits.map((trait) => sigmoid(weighed(HIT[calibration], trait)));
  const isSupportedAtAll = calibration === 'learnt' || traits.hits.some(isSupported(question));
  const answered = isSupportedAtAll ? sureOf(traits, { chances, calibration }) : 0;
  const least = {
    answered: ANY_LEAST[calibration],
    chance: Math.max(HIT_LEAST, HIT_LEAST_OF_BEST[calibration] * Math.max(...chances)),
  };
  return { question, calibration, traits, answered, chances, least };
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
  const shared = ranked.map(({ hit }) => [...termSet(hit.point.text)].filter((term) => asked.has(term)).length);
  const most = Math.max(...shared);
  const isOther = aboutOthers(question.text);
  return most === 0 ? [] : ranked.filter(({ hit }, i) => shared[i] === most && !isOther(hit.point.text));
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
  { chances, calibration }: { readonly chances: readonly number[]; readonly calibration: Calibration },
): number {
  const place = chances.indexOf(Math.max(...chances));
  const [best, chance] = [hits[place], chances[place]];
  if (best === undefined || chance === undefined) return 0;
  const most = (name: keyof Trait): number => Math.max(...hits.map((trait) => trait[name]));
  const words = most('words');
  return sigmoid(
    weighed(ANY[calibration], {
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

const weighed = <Name extends string>(
  weights: Readonly<Record<Name, number>>,
  values: Readonly<Record<Name, number>>,
): number => (Object.keys(weights) as Name[]).reduce((sum, name) => sum + weights[name] * values[name], 0);

const sigmoid = (odds: number): number => 1 / (1 + Math.exp(-odds));

/** Texts that have so many of their words in common say the same. */
const SAME = 0.9;
const SAME_MAX = 2;

function withoutRepeats(ranked: readonly ScoredHit[]): readonly ScoredHit[] {
  const kept: { readonly one: ScoredHit; readonly words: ReadonlySet<string> }[] = [];
  for (const one of ranked) {
    const { text, memoryId } = one.hit.point;
    const words = termSet(text);
    const like = kept.filter(
      (other) => other.one.hit.point.memoryId !== memoryId && overlapsBy(SAME, other.words, words),
    );
    if (like.length < SAME_MAX) kept.push({ one, words });
  }
  return kept.map(({ one }) => one);
}
