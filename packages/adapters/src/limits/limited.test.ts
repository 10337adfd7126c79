import { EngineError, type Limiter } from '@slowwave/engine';
import { CutOff, fakeChat, fakeEmbedder, NEVER, recordingLog } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { limitedChat, limitedEmbedder, memoryLimiter } from './limited.ts';

const CALL = { name: 'extract_facts', system: 'Find.', user: '{}', schema: {} };
const MINUTE = 60_000;
const log = recordingLog();
const tooMany = (retryAfterMs?: number) =>
  new EngineError('the provider: too many requests', {
    code: 'model_overloaded',
    retryable: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

test('a call beyond the limit is not made: the work is told how long to wait, and loses no try', async () => {
  const model = fakeChat({ extract_facts: () => ({ facts: [] }) });
  const limiter = memoryLimiter({ requestsPerMinute: 10, tokensPerMinute: null });
  const workers = Array.from({ length: 4 }, () => limitedChat(model, { limiter, log }));
  const asked = Array.from({ length: 11 }, (_, i) => workers[i % 4]?.ask(CALL, NEVER));
  const outcomes = await Promise.allSettled(asked);
  const [refused] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(model.calls).toHaveLength(10);
  expect(refused).toMatchObject({ code: 'rate_limited', retryable: true, countsAsTry: false });
  expect(refused.retryAfterMs).toBeGreaterThan(MINUTE / 2);
});

test('what was not used is given back', async () => {
  const model = fakeChat({ extract_facts: () => ({ facts: [] }) });
  const chat = limitedChat(model, { limiter: memoryLimiter({ requestsPerMinute: null, tokensPerMinute: 500 }), log });
  for (let i = 0; i < 3; i += 1) await chat.ask(CALL, NEVER);
  expect(model.calls).toHaveLength(3);
});

test.each([
  ['for as long as it says', 20_000, 20_000],
  ['for a few seconds when it does not say', undefined, 5_000],
  ['for an hour at most', 86_400_000, 3_600_000],
])('a provider that says "too many" is left alone by all %s', async (_name, said, left) => {
  const model = fakeChat({ extract_facts: () => tooMany(said) });
  const limiter = memoryLimiter({ requestsPerMinute: null, tokensPerMinute: null }, () => 0);
  const [one, other] = [limitedChat(model, { limiter, log }), limitedChat(model, { limiter, log })];
  const first = { code: 'model_overloaded', countsAsTry: false, retryAfterMs: left, message: /too many requests/ };
  await expect(one.ask(CALL, NEVER)).rejects.toMatchObject({ ...first, message: expect.stringMatching(first.message) });
  await expect(other.ask(CALL, NEVER)).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: left });
  expect(model.calls).toHaveLength(1);
});

test('an embedder that says "too many" is left alone, too', async () => {
  let refusals = 0;
  const failing = {
    ...fakeEmbedder(),
    embed: () => {
      refusals += 1;
      return Promise.reject(tooMany(20_000));
    },
  };
  const limiter = memoryLimiter({ requestsPerMinute: null, tokensPerMinute: null }, () => 0);
  const limitedOne = limitedEmbedder(failing, { limiter, log });
  await expect(limitedOne.embed(['x'], NEVER)).rejects.toMatchObject({ code: 'model_overloaded', countsAsTry: false });
  await expect(limitedOne.embed(['x'], NEVER)).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 20_000 });
  expect(refusals).toBe(1);
});

test('an answer is not lost because it could not be counted', async () => {
  const away = () => Promise.reject(new Error('the server went away'));
  const limiter: Limiter = { ...memoryLimiter({ requestsPerMinute: 1, tokensPerMinute: 1 }), correct: away };
  const chat = limitedChat(fakeChat({ extract_facts: () => new CutOff('{"facts"') }), { limiter, log });
  await expect(chat.ask(CALL, NEVER)).resolves.toMatchObject({ text: '{"facts"' });
});

test('an answer does not wait until it is counted: a server that is silent keeps nobody from storing it', async () => {
  const silent = () => new Promise<never>(() => {});
  const limiter: Limiter = { ...memoryLimiter({ requestsPerMinute: 2, tokensPerMinute: null }), correct: silent };
  const chat = limitedChat(fakeChat({ extract_facts: () => ({ facts: [] }) }), { limiter, log });
  await expect(chat.ask(CALL, NEVER)).resolves.toMatchObject({ text: '{"facts":[]}' });
  await expect(limitedEmbedder(fakeEmbedder(), { limiter, log }).embed(['x'], NEVER)).resolves.toHaveProperty(
    'vectors',
  );
});

test('every other failure stays what it is', async () => {
  const broken = new EngineError('broken', { code: 'model_server_error', retryable: true });
  const limiter = memoryLimiter({ requestsPerMinute: null, tokensPerMinute: null });
  const chat = limitedChat(fakeChat({ extract_facts: () => broken }), { limiter, log });
  await expect(chat.ask(CALL, NEVER)).rejects.toBe(broken);
  await expect(chat.ask(CALL, NEVER)).rejects.toBe(broken);
});
