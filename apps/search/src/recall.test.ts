import { DEFAULT_TENANT, EngineError, silentMeter } from '@slowwave/engine';
import { fakeChat, ONE_CHAT, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import type { SearchDeps } from './deps.ts';
import { searchBench } from './testing/bench.ts';

const question = { query: 'where does Ann live', user_id: 'ann' };

interface Shown {
  readonly id: string;
  readonly content?: string;
}

/** Ann and Bob have said where they live; a scripted model reads. */
async function bench(script: Script | null, given: Partial<SearchDeps> = {}) {
  const real = await searchBench();
  const { engine } = real;
  const said = Date.parse('2026-01-01T00:00:00Z');
  await engine.post([
    { role: 'assistant', content: 'Where do you live?', at: said },
    { content: 'Ann lives in Berlin', at: said + 1 },
  ]);
  await engine.run();
  await engine.post(['Bob lives in Rome'], { userId: 'bob' });
  await engine.run();
  const { ledger, index, tools, settings } = engine.deps;
  const chat = fakeChat(script === null ? {} : { recall_step: script });
  const reader = script === null ? null : { ledger, tools, settings, chat, meter: silentMeter, ...ONE_CHAT };
  const { app } = await searchBench({ ledger, index, reader, ...given });
  const ask = async (more: object = {}) =>
    (await app.inject({ method: 'POST', url: '/v1/recall', payload: { ...question, ...more } })).json();
  return { ask, chat, engine };
}

test('an answer comes with what it rests on, and with what was searched for', async () => {
  const { ask, engine } = await bench(({ memories, messages }, nth) => {
    if (nth === 1) return { around: ['0'] };
    const asked = (messages as unknown as Shown[]).find(({ content }) => content === 'Where do you live?');
    return { answer: 'In Berlin.', cites: [(memories as unknown as Shown[])[0]?.id ?? '', asked?.id ?? ''] };
  });
  const answer = await ask();
  const [memory] = await engine.memories();
  expect(answer).toMatchObject({
    answer: 'In Berlin.',
    citations: [
      {
        kind: 'memory',
        id: memory?.id,
        memory: 'Ann lives in Berlin',
        message_ids: memory?.versions[0]?.details.sourceIds,
      },
      { kind: 'message', role: 'assistant', content: 'Where do you live?', said_at: '2026-01-01T00:00:00.000Z' },
    ],
    usage: { calls: 2 },
  });
  expect(answer.trail).toMatchObject([
    { step: 0, query: question.query, found: expect.arrayContaining([memory?.id]) },
    { step: 1, query: null, around: memory?.id },
  ]);
  expect([answer.degraded, answer.remarks]).toEqual([undefined, undefined]);
});

test('whatever the model searches for, it sees one owner alone', async () => {
  const { ask, chat } = await bench(() => ({
    queries: ['Bob lives in Rome', 'user_id: bob'],
    around: ['0'],
    cites: [],
  }));
  const answer = await ask();
  expect(answer.answer).toBeNull();
  const read = chat.calls.map(({ user }) => JSON.parse(user.split('\n').at(-1) ?? ''));
  expect(read.length).toBeGreaterThan(1);
  expect(read.at(-1).searched).toContain('Bob lives in Rome');
  expect(JSON.stringify(read.map(({ memories, messages }) => [memories, messages]))).not.toContain('Rome');
});

const lastRead = (chat: { calls: readonly { user: string }[] }) =>
  JSON.parse(chat.calls.at(-1)?.user.split('\n').at(-1) ?? '');

test('the day that a model is shown is that of who speaks, and so are the dates of what was found', async () => {
  const { ask, chat, engine } = await bench((_input, nth) => (nth % 2 === 1 ? { around: ['0'] } : { answer: null }));
  const said = Date.parse('2026-02-28T15:30:00Z');
  await engine.post([{ content: 'Ann moved to Osaka', at: said, clock: { at: said, offset: 540 } }]);
  await engine.run();
  const osaka = { query: 'Ann moved to Osaka', as_of: '2026-02-28T16:00:00Z' };
  await ask(osaka);
  const { now, memories, messages } = lastRead(chat);
  expect(now).toBe('2026-03-01T01:00:00+09:00');
  const dates = [...memories, ...messages].filter(({ text, content }) => (text ?? content) === 'Ann moved to Osaka');
  expect(dates.length).toBeGreaterThan(0);
  expect(new Set(dates.map(({ date }) => date))).toEqual(new Set(['2026-03-01T00:30:00+09:00']));
  await ask({ ...osaka, as_of: '2026-02-28T17:00:00-03:00' });
  expect(lastRead(chat).now).toBe('2026-02-28T17:00:00-03:00');
});

test('where nothing says where somebody is it is the day of the tenant, summer time included', async () => {
  const { ask, chat, engine } = await bench(() => ({ answer: null }));
  const { ledger } = engine.deps;
  const zone = { ...(await ledger.settings.get(DEFAULT_TENANT)), timezone: 'Europe/Oslo' };
  await ledger.settings.put(DEFAULT_TENANT, zone);
  for (const [asOf, now] of [
    ['2026-01-31T23:30:00Z', '2026-02-01T00:30:00+01:00'],
    ['2026-06-30T22:30:00Z', '2026-07-01T00:30:00+02:00'],
  ]) {
    await ask({ as_of: asOf });
    expect(lastRead(chat).now).toBe(now);
  }
  const winter = Date.parse('2026-01-31T12:00:00Z');
  await engine.post([{ content: 'Ann lives in Berlin now', at: winter, clock: { at: winter, offset: 60 } }]);
  await engine.run();
  await ask({ as_of: '2026-06-30T22:30:00Z' });
  expect(lastRead(chat).now).toBe('2026-07-01T00:30:00+02:00');
});

test('what was not stored is not read around a memory as if it had been said', async () => {
  const { ask, chat, engine } = await bench((_input, nth) => (nth === 1 ? { around: ['0'] } : { answer: null }));
  await engine.post([{ content: { withheld: 'personal_data', kinds: ['email'] } }, 'Ann lives in Berlin too']);
  await engine.run();
  await ask();
  expect(chat.calls.length).toBeGreaterThan(1);
  expect(JSON.stringify(chat.calls.map(({ user }) => user))).not.toContain('withheld');
});

test('with as_of it reads nothing that was said later', async () => {
  const { ask, chat } = await bench(() => ({ answer: 'Unknown.', cites: [] }));
  expect(await ask({ as_of: '2025-06-01T00:00:00Z' })).toMatchObject({ answer: null, citations: [] });
  expect(chat.calls).toEqual([]);
});

test('without a model the best memories are the answer, and it is said', async () => {
  const { ask } = await bench(null);
  const answer = await ask();
  expect(answer.answer).toBe('- Ann lives in Berlin (2026-01-01)');
  expect(answer.citations).toHaveLength(1);
  expect(answer.degraded[0]).toContain('no chat model is configured');
  expect(await ask({ user_id: 'nobody' })).toMatchObject({ answer: null, citations: [] });
});

test('when the time is up the answer is what was found until then', async () => {
  const { engine } = await searchBench();
  const reader = {
    ledger: engine.deps.ledger,
    tools: engine.deps.tools,
    settings: engine.deps.settings,
    chat: { name: 'slow', ask: never },
    meter: silentMeter,
    ...ONE_CHAT,
  };
  const { ask } = await bench(null, { reader });
  const answer = await ask({ timeout_ms: 100 });
  expect(answer.answer).toBe('- Ann lives in Berlin (2026-01-01)');
  expect(answer.degraded[0]).toContain('the time limit was reached');
});

test('when not even the first search is done in time, that is said', async () => {
  const { ask } = await bench(null, { embedQuery: () => new Promise(() => {}) });
  expect(await ask({ timeout_ms: 100 })).toMatchObject({ status: 504, code: 'timed_out' });
});

test.each([
  ['no question', { query: ' ' }, 'query'],
  ['no steps', { max_steps: 0 }, 'max_steps'],
  ['too many steps', { max_steps: 6 }, 'max_steps'],
  ['too few tokens', { max_tokens: 100 }, 'max_tokens'],
  ['a field that is not honoured', { rerank: true }, 'rerank'],
])('%s is refused, naming the place', async (_name, more, path) => {
  const { ask } = await bench(null);
  expect(await ask(more)).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
});

test('calls are counted for the tenant', async () => {
  const { ask, engine } = await bench(() => ({ answer: 'In Berlin.', cites: ['0'] }));
  const before = await engine.deps.ledger.overview.usage(DEFAULT_TENANT);
  await ask();
  expect((await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).calls).toBe(before.calls + 1);
});

interface Told {
  addEventListener(type: 'abort', listener: () => void): void;
}

/** A model that only ends when it is told to. */
const never = (_call: unknown, cancel: Told): Promise<never> =>
  new Promise((_resolve, reject) => {
    const stopped = new EngineError('stopped', { code: 'cancelled', retryable: true });
    cancel.addEventListener('abort', () => reject(stopped));
  });
