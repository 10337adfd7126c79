import { type ChatCall, EngineError, type EngineErrorCode } from '@slowwave/engine';
import { fakeChat, NEVER, type Reply, recordingLog, recordingMeter } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { breakingChat, fallbackChat } from './outages.ts';

const POLICY = { failures: 3, windowMs: 60_000, coolDownMs: 5_000, coolDownMaxMs: 20_000 };
const CALL = { name: 'extract_facts', system: 'Find.', user: '{}', schema: {} };
const failure = (code: EngineErrorCode, more: object = {}) => new EngineError(code, { code, retryable: true, ...more });
const refusedConnection = () =>
  failure('model_unreachable', {
    cause: new Error('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }),
  });
type Mood = Reply | null;

/** Two models in order, each in a mood of its own; null: it answers. */
function bench() {
  let now = 0;
  const moods: Record<string, Mood> = { first: null, second: null };
  const passed: string[] = [];
  const asked: string[] = [];
  const model = (name: string) => {
    const answer = (): Reply => moods[name] ?? { facts: [] };
    const chat = fakeChat({ extract_facts: answer, are_you_there: answer });
    const noted = {
      name,
      ask: (...call: Parameters<typeof chat.ask>) => {
        if (call[0].name === CALL.name) asked.push(name);
        return chat.ask(...call);
      },
    };
    return breakingChat(noted, { log: recordingLog(), meter: recordingMeter(), policy: POLICY, now: () => now });
  };
  const log = recordingLog();
  const chat = fallbackChat([model('first'), model('second')], { log, now: () => now });
  const passedOn: ChatCall['passedOn'] = async (error) => void passed.push(`${error.model}: ${error.code}`);
  const ask = (more: Partial<ChatCall> = {}): Promise<string> =>
    chat.ask({ ...CALL, passedOn, ...more }, NEVER).then(
      ({ asked: by = 'first' }) => by,
      (error: EngineError) => error.code,
    );
  return {
    ...{ chat, log, passed, asked, ask },
    be: (name: string, mood: Mood) => {
      moods[name] = mood;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('it goes by the name of the first, so that all of them answer the same question', () => {
  expect(bench().chat.name).toBe('first');
});

test('a model that keeps failing is replaced by the next one, and asked again by itself when it is back', async () => {
  const { ask, be, pass, passed, log } = bench();
  be('first', failure('model_server_error'));
  expect([await ask(), await ask()]).toEqual(['model_server_error', 'model_server_error']);
  // The third failure opens the breaker: that very question is answered by the next one.
  expect([await ask(), await ask()]).toEqual(['second', 'second']);
  expect(passed).toEqual(['first: model_server_error']);
  be('first', null);
  expect(await ask()).toBe('second');
  pass(POLICY.coolDownMs);
  expect([await ask(), await ask()]).toEqual(['first', 'first']);
  expect(log.lines.map(({ message }) => message)).toEqual(['a fallback is asked', 'a model is asked again']);
});

test('a model to which no connection comes about is replaced at once', async () => {
  const { ask, be, passed } = bench();
  be('first', refusedConnection());
  expect(await ask()).toBe('second');
  expect(passed).toEqual(['first: model_unreachable']);
});

test('a connection that broke once shows nothing', async () => {
  const { ask, be, asked } = bench();
  be('first', failure('model_unreachable', { cause: new Error('socket hang up') }));
  expect(await ask()).toBe('model_unreachable');
  expect(asked).toEqual(['first']);
});

test.each<[string, EngineError]>([
  ['an unusable answer', failure('model_output_unusable')],
  ['a question that is too long', failure('context_too_long', { retryable: false })],
  ['a refusal', failure('model_rejected', { retryable: false })],
])('%s of the first never passes a question on, however often it comes', async (_, error) => {
  const { ask, be, asked } = bench();
  be('first', error);
  for (let i = 0; i < 10; i += 1) expect(await ask()).toBe(error.code);
  expect(new Set(asked)).toEqual(new Set(['first']));
});

test('an answer is never asked of another one, whatever it says', async () => {
  const { ask, be, asked } = bench();
  be('first', 'no JSON at all');
  for (let i = 0; i < 10; i += 1) expect(await ask()).toBe('first');
  expect(new Set(asked)).toEqual(new Set(['first']));
});

test.each<[string, EngineError]>([
  ['refuses more calls for a minute and more', failure('model_overloaded', { retryAfterMs: 120_000 })],
  ['is waited for that long by another process', failure('rate_limited', { retryAfterMs: 120_000 })],
])('a model that %s is replaced', async (_, error) => {
  const { ask, be } = bench();
  be('first', error);
  expect(await ask()).toBe('second');
});

test('a model that refuses more calls for half a minute is replaced, and one that is back after a moment is not', async () => {
  const { ask, be, pass } = bench();
  const tooMany = failure('model_overloaded', { retryAfterMs: 1_000, countsAsTry: false });
  be('first', tooMany);
  expect(await ask()).toBe('model_overloaded');
  pass(29_000);
  be('first', null);
  expect(await ask()).toBe('first');
  be('first', tooMany);
  expect(await ask()).toBe('model_overloaded');
  pass(30_000);
  expect(await ask()).toBe('second');
});

test('where all are away the work waits, loses no try, and is told when to come back', async () => {
  const { chat, be, passed } = bench();
  be('first', refusedConnection());
  be('second', refusedConnection());
  const passedOn: ChatCall['passedOn'] = async (error) => void passed.push(`${error.model}`);
  await expect(chat.ask({ ...CALL, passedOn }, NEVER)).rejects.toMatchObject({
    code: 'circuit_open',
    countsAsTry: false,
    retryAfterMs: 5_000,
  });
  expect(passed).toEqual(['first', 'second']);
});

test('what a fallback cannot bear waits for the first', async () => {
  const { ask, be } = bench();
  be('first', refusedConnection());
  be('second', failure('context_too_long', { retryable: false }));
  expect(await ask()).toBe('circuit_open');
});

test('the failure of a fallback is told under its own name', async () => {
  const { chat, be } = bench();
  be('first', refusedConnection());
  be('second', failure('model_timeout'));
  await expect(chat.ask(CALL, NEVER)).rejects.toMatchObject({ code: 'model_timeout', model: 'second' });
});

test('a model that may not stand in is not asked', async () => {
  const { ask, be, asked } = bench();
  be('first', refusedConnection());
  expect(await ask({ mayStandIn: async (model) => model !== 'second' })).toBe('circuit_open');
  expect(asked).toEqual(['first']);
});

test('a worker that stops passes nothing on', async () => {
  const { chat, be, asked } = bench();
  be('first', failure('cancelled'));
  const stop = new AbortController();
  stop.abort();
  await expect(chat.ask(CALL, stop.signal)).rejects.toMatchObject({ code: 'cancelled' });
  expect(asked).toEqual(['first']);
});
