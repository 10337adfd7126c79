import { anyCharacter, anyOperations } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../models/parse/answer.ts';
import { factsIn, operationsIn } from '../models/parse/listed.ts';
import type { Json } from '../words.ts';

const RUNS = 1_000;

const anySentence = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
    fc.constantFrom('a "b" c', 'a\\b', '{x}', '[y], z'),
  )
  .map((text) => `User ${text} here`);
const answerOf = (texts: readonly string[]) =>
  JSON.stringify({ facts: texts.map((text, i) => ({ text, source_ids: [`m${i}`], quote: text })) });
const textsIn = (answer: string) => readAnswer(answer, factsIn)?.value.items.map(({ text }) => text) ?? null;

describe('an answer of a model', () => {
  it('of whatever text is read without an error', () => {
    const anyAnswer = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 200 }),
      fc.json(),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '<think>', '</think>', 'facts', '\\', '//', '1'))
        .map((bits) => bits.join('')),
    );
    fc.assert(
      fc.property(anyAnswer, (answer) => {
        for (const reading of [readAnswer(answer, factsIn), readAnswer(answer, operationsIn)]) {
          expect(reading === null || Array.isArray(reading.value.items)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('that is right is read to the letter, whatever stands around it', () => {
    const around = fc.constantFrom(
      (answer: string) => answer,
      (answer: string) => `Here you are:\n\`\`\`json\n${answer}\n\`\`\`\nAnything else?`,
      (answer: string) => `<think>{"facts":["no"]}</think>${answer}<|im_end|>`,
    );
    fc.assert(
      fc.property(fc.uniqueArray(anySentence, { maxLength: 5 }), around, (texts, wrap) => {
        const answer = answerOf(texts);
        const expected = factsIn(JSON.parse(answer) as Json)?.items.map(({ text }) => text);
        expect(textsIn(wrap(answer))).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it('that broke off anywhere brings only facts that were whole', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anySentence, { minLength: 1, maxLength: 4 }), fc.nat(), (texts, cut) => {
        const answer = answerOf(texts);
        const reading = readAnswer(answer.slice(0, cut % answer.length), factsIn);
        expect(reading?.complete ?? false).toBe(false);
        const whole = factsIn(JSON.parse(answer) as Json)?.items ?? [];
        const got = reading?.value.items ?? [];
        expect(got).toEqual(whole.slice(0, got.length));
      }),
      { numRuns: RUNS },
    );
  });

  it('with any operations keeps every one that is an object, and tells of every other entry', () => {
    fc.assert(
      fc.property(anyOperations, (operations) => {
        const objects = operations.filter((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
        const reading = readAnswer(JSON.stringify({ operations }), operationsIn);
        const { items, unread } = reading?.value ?? { items: [], unread: [] };
        expect(items.length).toBeGreaterThanOrEqual(objects.length);
        const others = operations.filter((one) => !Array.isArray(one)).length - objects.length;
        if (reading !== null) expect(unread.length).toBeGreaterThanOrEqual(others);
        else expect(operations.length).toBeGreaterThan(0);
      }),
      { numRuns: RUNS },
    );
  });
});
