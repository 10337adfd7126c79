import { type Embedder, EngineError } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { hurriedEmbedder, slots, slottedEmbedder } from './limited.ts';

const never = new AbortController().signal;
const VECTOR = { vectors: [Float32Array.of(1)], usage: { promptTokens: 1, completionTokens: 0 } };
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Answers "now" at once and everything else when it is told to. */
function slowEmbedder() {
  const answer = Promise.withResolvers<typeof VECTOR>();
  const signals: { readonly aborted: boolean }[] = [];
  const embedder: Embedder = {
    fingerprint: 'slow',
    dimensions: 1,
    embed: async ([text], cancel) => {
      signals.push(cancel);
      return text === 'now' ? VECTOR : answer.promise;
    },
  };
  return { embedder, signals, answer };
}

test('vectors that come in time are passed on', async () => {
  const { embedder } = slowEmbedder();
  expect(await hurriedEmbedder(embedder).embed(['now'], never)).toBe(VECTOR);
});

test('whoever waits is told when it takes too long, and the call is given up, whether or not the model notices', async () => {
  const { embedder, signals } = slowEmbedder();
  const late = hurriedEmbedder(embedder, 1).embed(['later'], never);
  await expect(late).rejects.toMatchObject({ code: 'model_timeout', retryable: true });
  expect(signals[0]?.aborted).toBe(true);
});

test('texts that others are embedding are waited for no longer than its own', async () => {
  const { embedder } = slowEmbedder();
  const others = Promise.withResolvers<string>();
  await expect(hurriedEmbedder(embedder, 1).inTime?.(others.promise)).rejects.toMatchObject({ code: 'model_timeout' });
  others.resolve('made');
  expect(await hurriedEmbedder(embedder).inTime?.(others.promise)).toBe('made');
});

test('who leaves takes the call with them', async () => {
  const { embedder, signals, answer } = slowEmbedder();
  const leaving = new AbortController();
  const waiting = hurriedEmbedder(embedder).embed(['later'], leaving.signal);
  leaving.abort();
  expect(signals[0]?.aborted).toBe(true);
  answer.reject(new EngineError('cancelled', { code: 'cancelled', retryable: true }));
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
});

test('work in bulk that takes all its places leaves those who wait for an answer theirs', async () => {
  const { embedder, signals, answer } = slowEmbedder();
  const bulk = slottedEmbedder(embedder, slots(2));
  const working = Array.from({ length: 5 }, () => bulk.embed(['later'], never));
  await settled();
  expect(signals).toHaveLength(2);
  expect(await hurriedEmbedder(embedder).embed(['now'], never)).toBe(VECTOR);
  answer.resolve(VECTOR);
  expect(await Promise.all(working)).toHaveLength(5);
});
