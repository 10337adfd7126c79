import { EngineError, type EngineErrorCode } from '@slowwave/engine';
import { fakeEmbedder, NEVER, recordingLog } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { breakingEmbedder } from './outages.ts';

const POLICY = { failures: 3, windowMs: 60_000, coolDownMs: 5_000, coolDownMaxMs: 20_000 };

/** An embedder that fails with this on requests of more texts than it bears. */
function bench(code: EngineErrorCode) {
  const working = fakeEmbedder(16);
  let now = 0;
  let most = 0;
  let asked = 0;
  const given = {
    ...working,
    embed: async (...[texts, cancel]: Parameters<typeof working.embed>) => {
      asked += 1;
      if (texts.length > most) throw new EngineError(code, { code, retryable: true });
      return working.embed(texts, cancel);
    },
  };
  const embedder = breakingEmbedder(given, { log: recordingLog(), policy: POLICY, now: () => now });
  const ask = (...texts: string[]): Promise<string> =>
    embedder.embed(texts, NEVER).then(
      () => 'answered',
      (error: EngineError) => error.code,
    );
  return {
    ...{ embedder, ask },
    asked: () => asked,
    bear: (texts: number) => {
      most = texts;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('an embedder that keeps failing is left alone, and asked again after a while', async () => {
  const { embedder, ask, asked, bear, pass } = bench('model_timeout');
  for (let i = 0; i < 3; i += 1) expect(await ask('tea', 'milk')).toBe('model_timeout');
  expect(embedder.breaker()).toBe('open');
  const before = asked();
  await expect(embedder.embed(['tea'], NEVER)).rejects.toMatchObject({ code: 'circuit_open', countsAsTry: false });
  expect(asked()).toBe(before);
  bear(2);
  pass(5_000);
  expect(await ask('tea', 'milk')).toBe('answered');
  expect(embedder.breaker()).toBe('closed');
});

test('an embedder that answers the smallest question is there: what it fails on stops nobody else', async () => {
  const { embedder, ask, bear } = bench('model_server_error');
  bear(1);
  for (let i = 0; i < 5; i += 1) expect(await ask('tea', 'milk')).toBe('model_server_error');
  expect(embedder.breaker()).toBe('closed');
  expect(await ask('tea')).toBe('answered');
});
