import { expect, test } from 'vitest';
import { batches } from './open.ts';

const NEVER = new AbortController().signal;

/** Vectors of one number, the length of the text; and what was computed together. */
function model() {
  const ran: (readonly string[])[] = [];
  const embed = batches(async (texts) => {
    ran.push(texts);
    await Promise.resolve();
    return { vectors: texts.map((text) => Float32Array.of(text.length)), tokens: texts.length };
  });
  return { ran, embed };
}

test('vectors come back in the order of the texts, whatever was computed together', async () => {
  const { ran, embed } = model();
  const texts = Array.from({ length: 100 }, (_, i) => 'word '.repeat(1 + ((i * 37) % 50)));
  const { vectors, tokens } = await embed(texts, NEVER);
  expect(vectors.map(([length]) => length)).toEqual(texts.map(({ length }) => length));
  expect(tokens).toBe(100);
  const lengths = ran.flat().map(({ length }) => length);
  expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  expect(Math.max(...ran.map(({ length }) => length))).toBeLessThanOrEqual(16);
});

test('long texts are computed with few others, and none is left out for its length', async () => {
  const { ran, embed } = model();
  await embed(
    Array.from({ length: 6 }, () => 'a long message of many words '.repeat(80)),
    NEVER,
  );
  expect(ran.length).toBeGreaterThanOrEqual(3);
  expect(ran.flat()).toHaveLength(6);
});

test('a question goes before the rest of a long call', async () => {
  const { ran, embed } = model();
  const bulk = embed(
    Array.from({ length: 64 }, (_, i) => `message ${i}`),
    NEVER,
  );
  await embed(['question'], NEVER);
  expect(ran.length).toBeLessThanOrEqual(3);
  await bulk;
});

test('what is cancelled is not computed, and the others are', async () => {
  const { ran, embed } = model();
  const abort = new AbortController();
  const bulk = embed(
    Array.from({ length: 64 }, (_, i) => `message ${i}`),
    abort.signal,
  );
  abort.abort();
  await expect(bulk).rejects.toMatchObject({ code: 'cancelled' });
  await embed(['after'], NEVER);
  expect(ran.flat().length).toBeLessThan(40);
  expect(ran.at(-1)).toEqual(['after']);
});

test('a call that fails fails alone', async () => {
  const embed = batches(async (texts) => {
    if (texts.includes('bad')) throw new Error('it is bad');
    return { vectors: texts.map(() => Float32Array.of(1)), tokens: 1 };
  });
  const [bad, good] = await Promise.allSettled([embed(['bad'], NEVER), embed(['good'], NEVER)]);
  expect(bad.status).toBe('rejected');
  expect(good.status).toBe('fulfilled');
});
