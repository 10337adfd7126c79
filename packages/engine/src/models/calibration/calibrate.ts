import type { ModelStore } from '../../ports/ledger/ledger.ts';
import type { Embedder } from '../../ports/models.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { withoutAsker } from '../../search/asked-for.ts';
import { cosine } from '../../search/hits.ts';
import type { JsonObject } from '../../words.ts';
import { embedAll } from '../embed.ts';
import { LEARNT, type QuestionCosines, type Vectors } from '../vectors.ts';
import { SAMPLES, SAMPLES_VERSION, type Sample } from './samples.ts';

/** What was measured of an embedder, and what follows from it. */
export interface Calibration {
  readonly vectors: Vectors;
  /** From which cosine on a memory may be what a fact changes, and one of two facts that are said together the other one. */
  readonly near: number;
  readonly pair: number;
  readonly languages: readonly LanguageCosines[];
}

/** Cosines of the samples of one language; medians, where nothing else is said. */
export interface LanguageCosines extends QuestionCosines {
  readonly language: string;
  /** Two facts that have nothing to do with each other; nine in ten are further apart than unrelatedMost. */
  readonly unrelated: number;
  readonly unrelatedMost: number;
  /** A fact and the same in other words. */
  readonly same: number;
  /** A fact and what replaces it; one in twenty is further away than updateLeast. */
  readonly update: number;
  readonly updateLeast: number;
  /** How often a question is nearer to its answer than to another fact, 0…1: by chance half of the time. */
  readonly told: number;
  /** The model knows the language well enough for what follows to rest on it. */
  readonly isKnown: boolean;
}

/** An embedder, as it reads what is stored and what is asked. */
interface Reading {
  readonly documents: Embedder;
  readonly queries: Embedder;
}

/** Embeds the samples, and finds in their cosines how those of this embedder read. */
export async function calibrate({ documents, queries }: Reading, cancel: Cancellation): Promise<Calibration> {
  const all = [...SAMPLES.values()].flat();
  const texts = all.flatMap(({ fact, paraphrase, update }) => [fact, paraphrase, update]);
  const asked = all.map(({ question }) => withoutAsker(question));
  const none = new Float32Array(documents.dimensions); // what the model refuses is like nothing
  const stored = (await embedAll(documents, texts, cancel)).map((vector) => vector ?? none);
  const questions = (await embedAll(queries, asked, cancel)).map((vector) => vector ?? none);
  const placed = all.map((_, i): Placed => {
    const [fact = none, paraphrase = none, update = none] = stored.slice(3 * i, 3 * i + 3);
    return { fact, paraphrase, update, question: questions[i] ?? none };
  });
  let at = 0;
  const pairs = [...SAMPLES].map(([language, samples]) => {
    at += samples.length;
    return [language, pairsOf(placed.slice(at - samples.length, at))] as const;
  });
  return readFrom(new Map(pairs));
}

/** A sample by its vectors. */
type Placed = Readonly<Record<keyof Sample, Float32Array>>;

/** Cosines by how two texts are related: `apart` are a question and what does not answer it. */
type Pairs = Readonly<Record<'unrelated' | 'same' | 'update' | 'apart' | 'answer', readonly number[]>>;

const pairsOf = (samples: readonly Placed[]): Pairs => ({
  unrelated: samples.flatMap(({ fact }, i) => samples.slice(i + 1).map((other) => cosine(fact, other.fact))),
  same: samples.map(({ fact, paraphrase }) => cosine(fact, paraphrase)),
  update: samples.map(({ fact, update }) => cosine(fact, update)),
  apart: samples.flatMap(({ question }, i) =>
    samples.flatMap(({ fact }, j) => (i === j ? [] : [cosine(question, fact)])),
  ),
  answer: samples.map(({ fact, question }) => cosine(question, fact)),
});

/** In a language that it knows, questions are nearer to their answers than to this share of other facts. */
const KNOWN = 0.9;

/** Languages that the model does not know say nothing about those that it knows; where it knows none, all are alike. */
function readFrom(pairs: ReadonlyMap<string, Pairs>): Calibration {
  const languages = [...pairs].map(([language, of]) => ({ language, ...cosinesOf(of) }));
  const known = languages.filter(({ isKnown }) => isKnown).map(({ language }) => language);
  const read = [...pairs].filter(([language]) => known.length === 0 || known.includes(language)).map(([, of]) => of);
  const { apart, apartMost, answer, unrelatedMost, updateLeast, told } = cosinesOf(pooled(read));
  const weak = known.length === 0 ? 1 : Math.min(1, Math.max(0, (TOLD_WELL - told) / (TOLD_WELL - KNOWN)));
  const words = LEARNT.words + weak * (WORDS_OF_WEAK - LEARNT.words);
  return {
    vectors: {
      kind: 'learnt',
      words: rounded(words),
      wordsOfMessages: rounded(LEARNT.wordsOfMessages + weak * (WORDS_OF_WEAK - LEARNT.wordsOfMessages)),
      questions: { apart, apartMost, answer: Math.max(answer, apart + SPREAD_LEAST) },
    },
    // What is asked needlessly costs a call; a change that is missed stays wrong.
    near: Math.min(unrelatedMost, updateLeast),
    // The model has read what is said together; so here a needless call weighs more.
    pair: updateLeast > unrelatedMost ? rounded((updateLeast + unrelatedMost) / 2) : updateLeast,
    languages,
  };
}

/** A model that tells them apart as well as this has the share of a good one, and one that hardly does that of hashed vectors. */
const TOLD_WELL = 0.97;
const WORDS_OF_WEAK = 0.8;
/** Of a model that does not know answers from other facts at all. */
const SPREAD_LEAST = 0.05;

const pooled = (all: readonly Pairs[]): Pairs => ({
  unrelated: all.flatMap(({ unrelated }) => unrelated),
  same: all.flatMap(({ same }) => same),
  update: all.flatMap(({ update }) => update),
  apart: all.flatMap(({ apart }) => apart),
  answer: all.flatMap(({ answer }) => answer),
});

function cosinesOf({ unrelated, same, update, apart, answer }: Pairs): Omit<LanguageCosines, 'language'> {
  const told = rounded(shareNearer(answer, apart));
  return {
    unrelated: quantile(unrelated, 0.5),
    unrelatedMost: quantile(unrelated, 0.9),
    same: quantile(same, 0.5),
    update: quantile(update, 0.5),
    updateLeast: quantile(update, 0.05),
    apart: quantile(apart, 0.5),
    apartMost: quantile(apart, 0.9),
    answer: quantile(answer, 0.5),
    told,
    isKnown: told >= KNOWN,
  };
}

function quantile(cosines: readonly number[], share: number): number {
  const sorted = cosines.toSorted((a, b) => a - b);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
}

/** Of all pairs of one of each list, the share where the first is higher; half of a draw. */
function shareNearer(answers: readonly number[], others: readonly number[]): number {
  const won = answers.flatMap((answer) => others.map((other) => (1 + Math.sign(answer - other)) / 2));
  return won.reduce((sum, one) => sum + one, 0) / won.length;
}

/** More digits would say nothing. */
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Of a vector space: with other samples it is another one. */
const nameOf = (fingerprint: string): string => `calibration ${SAMPLES_VERSION} ${fingerprint}`;

/** null: it was never measured. */
export const knownCalibration = async (models: ModelStore, fingerprint: string): Promise<Calibration | null> =>
  (await models.get(nameOf(fingerprint))) as Calibration | null;

export const keepCalibration = (models: ModelStore, fingerprint: string, calibration: Calibration): Promise<void> =>
  models.put(nameOf(fingerprint), calibration as unknown as JsonObject);
