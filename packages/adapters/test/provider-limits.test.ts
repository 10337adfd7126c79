import { limitedChat, redisLimiter } from '@slowwave/adapters/limits';
import { openaiChat } from '@slowwave/adapters/openai';
import type { ChatCall, EngineError, Limiter } from '@slowwave/engine';
import { NEVER, recordingLog } from '@slowwave/engine-testing';
import { type ModelServer, startModelServer, startRedis, strict, type TestRedis } from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const CALL: ChatCall = { name: 'extract_facts', system: 'Find facts.', user: '{"messages":[]}', schema: {} };
const WORKERS = 4;
const CALLS = 40;
const NONE = { requestsPerMinute: null, tokensPerMinute: null };

let redis: TestRedis;
let server: ModelServer;
let limiters: Limiter[] = [];
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
afterEach(async () => {
  for (const limiter of limiters) await limiter.close();
  limiters = [];
  await server.close();
});

/** Workers that share their limits on Redis alone, and a provider that refuses what is beyond its own. */
async function fleet(provider: Parameters<typeof startModelServer>[0], limits: Parameters<typeof redisLimiter>[1]) {
  server = await startModelServer(provider);
  const log = recordingLog();
  const options = { apiKey: null, baseUrl: server.baseUrl, model: 'scripted', timeoutMs: 5_000, log };
  return Array.from({ length: WORKERS }, () => {
    const limiter = redisLimiter(redis.url, limits);
    limiters.push(limiter);
    return limitedChat(openaiChat(options), { limiter, log });
  });
}

const outcomeOf = (asked: Promise<unknown>): Promise<{ code: string; waitMs: number }> =>
  asked.then(
    () => ({ code: 'answered', waitMs: 0 }),
    (error: EngineError) => ({ code: error.code, waitMs: error.retryAfterMs ?? 0 }),
  );

test('a provider that allows ten calls a minute is asked ten times by four workers, and never refuses one', async () => {
  const provider = strict(() => ({ json: { facts: [] } }), { requestsPerMinute: 10, tokensPerMinute: 100_000 });
  const workers = await fleet({ script: provider.script }, { requestsPerMinute: 10, tokensPerMinute: null });
  const asked = Array.from({ length: CALLS }, (_, i) => workers[i % WORKERS]?.ask(CALL, NEVER) ?? Promise.reject());
  const outcomes = await Promise.all(asked.map(outcomeOf));
  expect(outcomes.filter(({ code }) => code === 'answered')).toHaveLength(10);
  const waiting = outcomes.filter(({ code }) => code === 'rate_limited');
  expect(waiting).toHaveLength(CALLS - 10);
  for (const { waitMs } of waiting) expect(waitMs).toBeGreaterThan(30_000);
  expect(provider.refused()).toBe(0);
});

test('when one worker is told to come back later, no other asks before', async () => {
  const refusal = { status: 429, headers: { 'retry-after': '20' } };
  const workers = await fleet({ script: () => refusal }, NONE);
  const codes: string[] = [];
  for (const worker of workers) codes.push((await outcomeOf(worker.ask({ ...CALL, name: 'later' }, NEVER))).code);
  expect(codes).toEqual(['model_overloaded', 'rate_limited', 'rate_limited', 'rate_limited']);
  expect(server.calls).toHaveLength(1);
});
