import { createMemoryLedger, fixedTools, NEVER } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { Embedder } from '../ports/models.ts';
import { withoutAsker } from '../search/traits.ts';
import { calibrate, keepCalibration, knownCalibration, SAMPLES } from './calibration.ts';
import { hashVector } from './vectors.ts';

/** What each text of the samples is about: a number of its own for each sample, and the language. */
const ABOUT = new Map(
  [...SAMPLES]
    .flatMap(([language, samples]) => samples.map((sample) => ({ language, ...sample })))
    .flatMap(({ language, fact, paraphrase, update, question }, place) =>
      [fact, paraphrase, update, withoutAsker(question)].map((text) => [text, { language, place }] as const),
    ),
);
const SPELLING = 256;

/** A model that knows what is about the same in some languages. `high`: how near any two texts are to it. */
function modelOf({ knows, high = 0 }: { knows: readonly string[]; high?: number }): Embedder {
  const dimensions = 1 + ABOUT.size + SPELLING;
  const vectorOf = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions);
    const { language, place } = ABOUT.get(text) ?? { language: '', place: 0 };
    vector[0] = high;
    if (knows.includes(language)) vector[1 + place] = 1;
    for (const [i, value] of hashVector(text).entries()) {
      const at = 1 + ABOUT.size + (i % SPELLING);
      vector[at] = (vector[at] ?? 0) + value;
    }
    return vector;
  };
  const usage = { promptTokens: 0, completionTokens: 0 };
  return { fingerprint: 'm', dimensions, embed: async (texts) => ({ vectors: texts.map(vectorOf), usage }) };
}

const LANGUAGES = [...SAMPLES.keys()];
const measured = (embedder: Embedder) => calibrate({ documents: embedder, queries: embedder }, NEVER);

describe('an embedder that is calibrated', () => {
  it('is read by the languages that it knows', async () => {
    const { languages, vectors, near, pair } = await measured(modelOf({ knows: ['English'] }));
    expect(languages.filter(({ isKnown }) => isKnown).map(({ language }) => language)).toEqual(['English']);
    expect(vectors).toMatchObject({ words: 0.6, wordsOfMessages: 0.7 });
    const english = languages.find(({ language }) => language === 'English');
    expect(vectors.questions).toMatchObject({ apart: english?.apart, answer: english?.answer });
    expect(near).toBe(english?.unrelatedMost);
    expect(pair).toBeGreaterThan(near);
    expect(pair).toBeLessThan(english?.updateLeast ?? 0);
  });

  it('has its scale where its cosines are, and as much weight if all of them are high', async () => {
    const [low, high] = [modelOf({ knows: LANGUAGES }), modelOf({ knows: LANGUAGES, high: 2 })];
    const [first, second] = [await measured(low), await measured(high)];
    expect(second.vectors.questions.apart).toBeGreaterThan(first.vectors.questions.answer);
    expect(second.vectors.questions.answer).toBeGreaterThan(second.vectors.questions.apart);
    expect(second.near).toBeGreaterThan(first.near);
    expect(second.vectors.words).toBe(first.vectors.words);
  });

  it('has as little weight as hashed vectors, where it tells answers from other facts no better', async () => {
    const { languages, vectors } = await measured(modelOf({ knows: [] }));
    expect(languages.every(({ isKnown }) => !isKnown)).toBe(true);
    expect(vectors).toMatchObject({ words: 0.8, wordsOfMessages: 0.8 });
  });

  it('is known by its vector space', async () => {
    const { models } = createMemoryLedger({ tools: fixedTools() });
    const calibration = await measured(modelOf({ knows: LANGUAGES }));
    await keepCalibration(models, 'one', calibration);
    expect(await knownCalibration(models, 'one')).toEqual(calibration);
    expect(await knownCalibration(models, 'other')).toBeNull();
  });
});

it('the samples of a language are about different things, and complete', () => {
  for (const [language, samples] of SAMPLES) {
    expect(samples.length, language).toBeGreaterThanOrEqual(6);
    for (const sample of samples) expect(Object.values(sample).every((text) => text !== '')).toBe(true);
  }
  expect(ABOUT.size).toBe([...SAMPLES.values()].flat().length * 4);
});
