import type { ComparedBy, Trait } from './traits.ts';

type OfAny =
  | 'none'
  | 'best'
  | 'bestWords'
  | 'bestNear'
  | 'bestMeasured'
  | 'mostMeasured'
  | 'bestKeyword'
  | 'bestStrength'
  | 'mostStrength'
  | 'bestTopics'
  | 'bestAlike'
  | 'bestRanked'
  | 'others'
  | 'lacks'
  | 'odd'
  | 'words'
  | 'oddWords'
  | 'untold'
  | 'untoldWords';

/** What says more of a model's vectors alone. */
const OF_LEARNT = {
  ...{ keyword: 0, strength: 0, veryNear: 0, veryFar: 0, measured: 0, ranked: 0, topicsNear: 0 },
  ...{ wordless: 0, wordlessMeasured: 0, wordlessNear: 0, wordlessFurther: 0, beside: 0, besideMeasured: 0 },
} as const;
const ANY_OF_LEARNT = {
  ...{ bestMeasured: 0, mostMeasured: 0, bestKeyword: 0, bestStrength: 0, mostStrength: 0 },
  ...{ bestTopics: 0, bestAlike: 0, bestRanked: 0, lacks: 0 },
} as const;

/**
 * Weights of logistic regressions, for the log odds that a hit answers the question: of one seed of both worlds of ./scripts/bench
 * precision, each question asked a second time of a fifth or half of the memories. The topics know few of the subjects of the second
 * world. Hashed vectors and words alone: 30 users of each world, the first one counted twice. A model's: MiniLM, 90 users of the first
 * world, counted .8 times, and 60 of the second; what was asked a second time counts .6.
 */
export const HIT: Readonly<Record<ComparedBy, Readonly<Record<keyof Trait, number>>>> = {
  hashed: {
    none: -4.24,
    words: 1.02,
    fewerWords: -0.63,
    near: 2.51,
    further: -3.34,
    standsOut: 0,
    ...OF_LEARNT,
    topics: 3.84,
    alike: 2.39,
    odd: 0.33,
    oddWords: 5.14,
    others: -5.18,
    lacks: -2.35,
  },
  learnt: {
    none: -4.41,
    words: 3,
    fewerWords: 0.18,
    keyword: -3.14,
    strength: -2.52,
    near: 0.99,
    further: -3.66,
    standsOut: 1.88,
    veryNear: 0.14,
    veryFar: -0.36,
    measured: 2.86,
    wordless: 0.17,
    wordlessMeasured: -1.18,
    wordlessNear: -0.25,
    wordlessFurther: 1.46,
    beside: -2,
    besideMeasured: 0.42,
    ranked: 1.58,
    topics: 1.88,
    alike: 1.34,
    topicsNear: -1.7,
    odd: -1.04,
    oddWords: 2.51,
    others: -3.84,
    lacks: -2.15,
  },
  words: {
    none: -2.72,
    words: 2.02,
    fewerWords: -2.82,
    near: 0,
    further: 0,
    standsOut: 0,
    ...OF_LEARNT,
    topics: 2.44,
    alike: 1.89,
    odd: 1.36,
    oddWords: 1.1,
    others: -6.5,
    lacks: -2,
  },
};

/** The same for the log odds that anything does: by the best hit, and by the words of all. */
export const ANY: Readonly<Record<ComparedBy, Readonly<Record<OfAny, number>>>> = {
  hashed: {
    none: 1.4,
    best: 0.62,
    bestWords: 0.62,
    bestNear: -0.48,
    ...ANY_OF_LEARNT,
    others: -1.67,
    odd: 0.29,
    words: -0.15,
    oddWords: -0.51,
    untold: -1.43,
    untoldWords: 1.69,
  },
  learnt: {
    none: -1.31,
    best: 0.81,
    bestWords: 1.85,
    bestNear: -0.26,
    bestMeasured: -1,
    mostMeasured: 2.05,
    bestKeyword: -0.3,
    bestStrength: -2.84,
    mostStrength: 2.78,
    bestTopics: -0.39,
    bestAlike: 0.51,
    bestRanked: 1.57,
    others: -2.2,
    lacks: -0.57,
    odd: 0.21,
    words: -1.66,
    oddWords: 0.21,
    untold: -0.28,
    untoldWords: -0.14,
  },
  words: {
    none: 1.54,
    best: 0.53,
    bestWords: 1.44,
    bestNear: 0,
    ...ANY_OF_LEARNT,
    others: 0.97,
    odd: -0.17,
    words: -1.41,
    oddWords: 0.18,
    untold: -0.08,
    untoldWords: -1.86,
  },
};

/** Less sure that anything answers, nothing is shown. */
export const ANY_LEAST: Readonly<Record<ComparedBy, number>> = { hashed: 0.35, learnt: 0.47, words: 0.4 };
/** What is less likely to answer is not shown, nor is what is this much less likely than the best hit. */
export const HIT_LEAST = 0.03;
export const HIT_LEAST_OF_BEST: Readonly<Record<ComparedBy, number>> = { hashed: 0.12, learnt: 0.155, words: 0.15 };
