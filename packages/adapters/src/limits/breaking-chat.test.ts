import { EngineError, type EngineErrorCode } from '@slowwave/engine';
import { fakeChat, NEVER, type Reply, recordingLog, recordingMeter } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { breakingChat } from './outages.ts';

const POLICY = { failures: 3, windowMs: 60_000, coolDownMs: 5_000, coolDownMaxMs: 20_000 };
const CALL = { name: 'extract_facts', system: 'Find.', user: '{}', schema: {} };
const failure = (code: EngineErrorCode) => new EngineError(code, { code, retryable: true });

/** A model that fails as told, null: it answers; where a question is named, on that alone. */
function bench(policy = POLICY) {
  let mood: EngineErrorCode | null = null;
  let onlyOn: string | null = null;
  let now = 0;
  const answer = (name: string, json: Reply) => (): Reply =>
    mood === null || (onlyOn ?? name) !== name ? json : failure(mood);
  const model = fakeChat({
    extract_facts: answer('extract_facts', { facts: [] }),
    refresh_summary: answer('refresh_summary', { summary: '' }),
    are_you_there: answer('are_you_there', { there: true }),
  });
  const log = recordingLog();
  const meter = recordingMeter();
  const told: (number | null)[] = [];
  const chat = breakingChat(model, { log, meter, policy, now: () => now, paused: (ms) => told.push(ms) });
  const ask = async (name = CALL.name): Promise<string> =>
    chat.ask({ ...CALL, name }, NEVER).then(
      () => 'answered',
      (error: EngineError) => error.code,
    );
  return {
    chat,
    model,
    log,
    meter,
    told,
    ask,
    asked: (name: string) => model.calls.filter((call) => call.name === name).length,
    be: (next: EngineErrorCode | null, on: string | null = null) => {
      mood = next;
      onlyOn = on;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('others are told for how long a model is left alone, and when it answers again', async () => {
  const { told, ask, be, pass } = bench();
  be('model_unreachable');
  for (let i = 0; i < 3; i += 1) await ask();
  expect(told).toEqual([5_000]);
  pass(5_000);
  await ask();
  expect(told).toEqual([5_000, 10_000]);
  be(null);
  pass(10_000);
  expect(await ask()).toBe('answered');
  expect(told).toEqual([5_000, 10_000, null]);
});

test.each<EngineErrorCode>(['model_unreachable', 'model_timeout', 'model_server_error', 'model_misconfigured'])(
  'after %s again and again the model is left alone, and no try is lost by it',
  async (code) => {
    const { chat, asked, ask, be } = bench();
    be(code);
    for (let i = 0; i < 3; i += 1) expect(await ask()).toBe(code);
    expect(chat.breaker()).toBe('open');
    await expect(chat.ask(CALL, NEVER)).rejects.toMatchObject({
      code: 'circuit_open',
      countsAsTry: false,
      retryAfterMs: 5_000,
    });
    expect(asked(CALL.name)).toBe(3);
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
  const broken = () => failure('model_server_error');
  const chat = breakingChat(fakeChat({ extract_facts: broken, are_you_there: broken }), {
    log: recordingLog(),
    meter: recordingMeter(),
  });
  for (let i = 0; i < 19; i += 1) await chat.ask(CALL, NEVER).catch(() => {});
  expect(chat.breaker()).toBe('closed');
  await chat.ask(CALL, NEVER).catch(() => {});
  expect(chat.breaker()).toBe('open');
});

test.each<EngineErrorCode>(['model_timeout', 'model_server_error', 'model_unreachable'])(
  'a model that ends with %s on some questions and answers the smallest one is asked on: the questions are at fault',
  async (code) => {
    const { chat, ask, asked, be, log } = bench();
    be(code, CALL.name);
    for (let i = 0; i < 7; i += 1) expect(await ask()).toBe(code);
    expect(asked('are_you_there')).toBe(2);
    be(null);
    expect(await ask()).toBe('answered');
    expect(chat.breaker()).toBe('closed');
    expect(log.lines).toEqual([]);
  },
);

test('work of one kind that a model cannot do, even where it does not know the smallest question, stops no other work', async () => {
  const { chat, ask, be, pass } = bench();
  const answered = { extract_facts: () => ({ facts: [] }) };
  const strange = breakingChat(
    fakeChat({
      ...answered,
      refresh_summary: () => failure('model_server_error'),
      are_you_there: () => failure('model_server_error'),
    }),
    { log: recordingLog(), meter: recordingMeter(), policy: POLICY, now: () => 0 },
  );
  const refresh = { ...CALL, name: 'refresh_summary' };
  for (let i = 0; i < 3; i += 1) await strange.ask(refresh, NEVER).catch(() => {});
  await expect(strange.ask(refresh, NEVER)).rejects.toMatchObject({ code: 'circuit_open' });
  expect(strange.breaker()).toBe('open');
  await expect(strange.ask(CALL, NEVER)).resolves.toMatchObject({ truncated: false });

  be('model_unreachable');
  for (let i = 0; i < 3; i += 1) await ask();
  expect(chat.breaker()).toBe('open');
  pass(5_000);
  be('model_unreachable', CALL.name);
  // The probe was of the kind that fails, and yet it shows that the model is there again.
  expect(await ask()).toBe('model_unreachable');
  expect(chat.breaker()).toBe('closed');
});

test('the smallest question is measured as any other', async () => {
  const { ask, be, meter } = bench();
  be('model_timeout', CALL.name);
  for (let i = 0; i < 3; i += 1) await ask();
  expect(meter.recorded.calls.map(({ kind, failure: how }) => [kind, how])).toEqual([['are_you_there', null]]);
});

test('a worker that stops while the smallest question is out has learnt nothing of the model', async () => {
  const stop = new AbortController();
  const chat = breakingChat(
    fakeChat({
      extract_facts: () => failure('model_timeout'),
      are_you_there: () => {
        stop.abort();
        return failure('cancelled');
      },
    }),
    { log: recordingLog(), meter: recordingMeter(), policy: { ...POLICY, failures: 1 }, now: () => 0 },
  );
  await expect(chat.ask(CALL, stop.signal)).rejects.toMatchObject({ code: 'model_timeout' });
  expect(chat.breaker()).toBe('open');
});
