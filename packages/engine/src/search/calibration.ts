import type { Calibration, Trait } from './traits.ts';

type OfAny =
  | 'none'
  | 'best'
  | 'bestWords'
  | 'bestNear'
  | 'others'
  | 'odd'
  | 'words'
  | 'oddWords'
  | 'untold'
  | 'untoldWords';

/** Of hashed vectors and of words alone these said nothing more. */
const LINEAR = { veryNear: 0, veryFar: 0, ranked: 0, topicsNear: 0 } as const;

/**
 * Weights of logistic regressions, for the log odds that a hit answers the question: of one seed of both worlds of ./scripts/bench
 * precision, the first one counted twice, and each question asked a second time of a fifth or half of the memories. The topics know
 * few of the subjects of the second world.
 */
export const HIT: Readonly<Record<Calibration, Readonly<Record<keyof Trait, number>>>> = {
  hashed: {
    none: -3.96,
    words: 0.9,
    fewerWords: -0.75,
    near: 2.24,
    further: -3.55,
    standsOut: 0,
    ...LINEAR,
    topics: 3.79,
    alike: 2.89,
    odd: 0.29,
    oddWords: 5.34,
    others: -5.47,
    lacks: -2.38,
  },
  learnt: {
    none: -4.65,
    words: -0.41,
    fewerWords: -1.32,
    near: 5.95,
    further: -7.17,
    standsOut: 2.66,
    veryNear: -1.91,
    veryFar: -1.03,
    ranked: -0.46,
    topics: 4.2,
    alike: 2.3,
    topicsNear: -3.71,
    odd: 0.55,
    oddWords: 3.54,
    others: -5,
    lacks: -2.1,
  },
  words: {
    none: -2.72,
    words: 2.02,
    fewerWords: -2.82,
    near: 0,
    further: 0,
    standsOut: 0,
    ...LINEAR,
    topics: 2.44,
    alike: 1.89,
    odd: 1.36,
    oddWords: 1.1,
    others: -6.5,
    lacks: -2,
  },
};

/** The same for the log odds that anything does: by the best hit, and by the words of all. */
export const ANY: Readonly<Record<Calibration, Readonly<Record<OfAny, number>>>> = {
  hashed: {
    none: 1.41,
    best: 0.61,
    bestWords: 0.8,
    bestNear: 0.08,
    others: -1.61,
    odd: 0.35,
    words: -0.72,
    oddWords: -0.29,
    untold: -1.22,
    untoldWords: 1.19,
  },
  learnt: {
    none: 0.58,
    best: 0.72,
    bestWords: 1.83,
    bestNear: 0.8,
    others: -1.75,
    odd: 0.02,
    words: -1.63,
    oddWords: -0.23,
    untold: -1.08,
    untoldWords: 0.59,
  },
  words: {
    none: 1.54,
    best: 0.53,
    bestWords: 1.44,
    bestNear: 0,
    others: 0.97,
    odd: -0.17,
    words: -1.41,
    oddWords: 0.18,
    untold: -0.08,
    untoldWords: -1.86,
  },
};

/** Less sure that anything answers, nothing is shown. */
export const ANY_LEAST: Readonly<Record<Calibration, number>> = { hashed: 0.4, learnt: 0.36, words: 0.4 };
/** What is less likely to answer is not shown, nor is what is this much less likely than the best hit. */
export const HIT_LEAST = 0.03;
export const HIT_LEAST_OF_BEST: Readonly<Record<Calibration, number>> = { hashed: 0.15, learnt: 0.17, words: 0.15 };
