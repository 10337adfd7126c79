import { EngineError, type EngineErrorCode } from '@slowwave/engine';
import { fakeChat, NEVER, recordingLog } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { breakingChat } from './limited.ts';

const POLICY = { failures: 3, windowMs: 60_000, coolDownMs: 5_000, coolDownMaxMs: 20_000 };
const CALL = { name: 'extract_facts', system: 'Find.', user: '{}', schema: {} };
const failure = (code: EngineErrorCode) => new EngineError(code, { code, retryable: true });

/** A model that fails as told; null: it answers. */
function bench(policy = POLICY) {
  let mood: EngineErrorCode | null = null;
  let now = 0;
  const model = fakeChat({ extract_facts: () => (mood === null ? { facts: [] } : failure(mood)) });
  const log = recordingLog();
  const chat = breakingChat(model, { log, policy, now: () => now });
  const ask = async (): Promise<string> =>
    chat.ask(CALL, NEVER).then(
      () => 'answered',
      (error: EngineError) => error.code,
    );
  return {
    chat,
    model,
    log,
    ask,
    be: (next: EngineErrorCode | null) => {
      mood = next;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test.each<EngineErrorCode>(['model_unreachable', 'model_timeout', 'model_server_error', 'model_misconfigured'])(
  'after %s again and again the model is left alone, and no try is lost by it',
  async (code) => {
    const { chat, model, ask, be } = bench();
    be(code);
    for (let i = 0; i < 3; i += 1) expect(await ask()).toBe(code);
    expect(chat.breaker()).toBe('open');
    await expect(chat.ask(CALL, NEVER)).rejects.toMatchObject({
      code: 'circuit_open',
      countsAsTry: false,
      retryAfterMs: 5_000,
    });
    expect(model.calls).toHaveLength(3);
  },
);

test('one call finds out whether it is well again, and then all may ask', async () => {
  const { chat, ask, be, pass, log } = bench();
  be('model_unreachable');
  for (let i = 0; i < 3; i += 1) await ask();
  pass(5_000);
  expect(await ask()).toBe('model_unreachable');
  pass(9_999);
  expect(await ask()).toBe('circuit_open');
  pass(1);
  be(null);
  expect(await Promise.all([ask(), ask()])).toEqual(['answered', 'circuit_open']);
  expect(chat.breaker()).toBe('closed');
  expect(await ask()).toBe('answered');
  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'info']);
});

test.each<EngineErrorCode>(['model_rejected', 'model_overloaded', 'context_too_long'])(
  'a model that answers with %s is there: the count begins anew',
  async (code) => {
    const { chat, ask, be } = bench();
    for (const mood of ['model_timeout', 'model_timeout', code, 'model_timeout', 'model_timeout'] as const) {
      be(mood);
      await ask();
    }
    expect(chat.breaker()).toBe('closed');
  },
);

test.each<EngineErrorCode>(['cancelled', 'rate_limited', 'queue_unavailable'])(
  'a probe that ends with %s leaves the question to the next one',
  async (code) => {
    const { chat, ask, be, pass } = bench();
    be('model_unreachable');
    for (let i = 0; i < 3; i += 1) await ask();
    pass(5_000);
    be(code);
    expect(await ask()).toBe(code);
    expect(chat.breaker()).toBe('open');
    be(null);
    expect(await ask()).toBe('answered');
  },
);

test('the tries of a single batch never open it', async () => {
  const chat = breakingChat(fakeChat({ extract_facts: () => failure('model_server_error') }), { log: recordingLog() });
  for (let i = 0; i < 19; i += 1) await chat.ask(CALL, NEVER).catch(() => {});
  expect(chat.breaker()).toBe('closed');
  await chat.ask(CALL, NEVER).catch(() => {});
  expect(chat.breaker()).toBe('open');
});
