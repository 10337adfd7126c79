import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineError, estimateTokens } from '@slowwave/engine';
import { delta, dripping, type ModelServer, type Reply, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CALL, NEVER, QUIET, streamingChat } from './streaming-fixture.ts';

const FACTS = '{"facts":[{"text":"User likes tea 茶 🍵"}]}';
const HALVES = [FACTS.slice(0, 17), FACTS.slice(17)] as const;
const USAGE = { usage: { prompt_tokens: 40, completion_tokens: 12 } };
const COUNTED = { ...delta({}), choices: [], ...USAGE };

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ script: () => ({ text: FACTS }) });
});
afterEach(() => server.close());

const chat = (more: Parameters<typeof streamingChat>[1] = {}) => streamingChat(server.baseUrl, more);
const answerTo = (reply: Reply) => {
  server.setScript(() => reply);
  return chat().ask(CALL, NEVER);
};
const written = (...pieces: object[]): object[] => [...pieces.map((piece) => delta(piece)), delta({}, 'stop')];
const bytesOf = (...events: object[]): Buffer =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

describe('an answer that is sent while it is written', () => {
  test.each<[string, Reply]>([
    ['in pieces', { text: FACTS }],
    ['in one piece, as if nobody had asked', { status: 200, body: { choices: [{ message: { content: FACTS } }] } }],
    ['in one event', { events: [{ choices: [{ message: { content: FACTS }, finish_reason: 'stop' }] }] }],
    ['that ends without a word', { events: written({ content: FACTS }), end: 'bare' }],
    ['with lines that keep the connection alive', { events: [': ping\n\n', ...written({ content: FACTS }), ':\n\n'] }],
    [
      'in lines that end as those of Windows',
      { events: [`data: ${JSON.stringify(delta({ content: FACTS }))}\r\n\r\n`] },
    ],
    [
      'behind an event of the filter',
      { events: [{ choices: [], prompt_filter_results: [] }, ...written({ content: FACTS })] },
    ],
    ['with events of other kinds', { events: ['event: ping\ndata: null\n\n', ...written({ content: FACTS })] }],
    ['with its texts in lists', { events: written(...HALVES.map((text) => ({ content: [{ type: 'text', text }] }))) }],
    ['with its texts in one part each', { events: written(...HALVES.map((text) => ({ content: { text } }))) }],
    ['in an object', { events: written({ content: JSON.parse(FACTS) }) }],
    ['in what a parser took for thinking', { events: written(...HALVES.map((thinking) => ({ thinking }))) }],
    ['in a single call of a tool', { events: written({ tool_calls: { function: { arguments: FACTS } } }) }],
    ['behind thoughts', { events: written({ reasoning_content: 'Is {it} one?' }, { content: FACTS }) }],
    ['in what a parser took for thoughts', { events: written(...HALVES.map((reasoning) => ({ reasoning }))) }],
    [
      'in the arguments of a tool',
      {
        events: written(
          { tool_calls: [{ index: 0, id: 'a', function: { name: 'extract_facts', arguments: '' } }] },
          ...HALVES.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
        ),
      },
    ],
    [
      'in arguments that are an object',
      { events: written({ tool_calls: [{ function: { arguments: JSON.parse(FACTS) } }] }) },
    ],
    [
      'cut between the bytes of a character',
      { events: [...bytesOf(...written({ content: FACTS }))].map((byte) => Buffer.of(byte)) },
    ],
  ])('%s is read', async (_name, reply) => {
    expect((await answerTo(reply)).text).toBe(FACTS);
    expect(server.calls.map(({ request }) => request.stream)).toEqual([true]);
  });

  test.each<[string, Reply, object]>([
    [
      'counted at the end',
      { events: [...written({ content: FACTS }), COUNTED] },
      { promptTokens: 40, completionTokens: 12 },
    ],
    [
      'counted with each event',
      {
        events: HALVES.map((content, i) => ({
          ...delta({ content }),
          usage: { prompt_tokens: 40, completion_tokens: i },
        })),
      },
      { promptTokens: 40, completionTokens: 1 },
    ],
    [
      'that nobody counts',
      { events: written({ reasoning: 'Hm, tea it is.' }, { content: FACTS }) },
      {
        promptTokens: estimateTokens(CALL.system + CALL.user),
        completionTokens: estimateTokens(`${FACTS}Hm, tea it is.`),
      },
    ],
  ])('%s is paid for', async (_name, reply, usage) => {
    expect((await answerTo(reply)).usage).toEqual(usage);
  });

  test.each<[string, Reply]>([
    ['the limit of the output', { text: HALVES[0], finish: 'length' }],
    ['nobody knows what', { events: [delta({ content: HALVES[0] })] }],
    ['nobody knows what, without a word', { events: [delta({ content: HALVES[0] })], end: 'bare' }],
  ])('that is cut off by %s has broken off', async (_name, reply) => {
    expect(await answerTo(reply)).toMatchObject({ text: HALVES[0], truncated: true });
  });

  test('leaves its connection for the next question, also where it ends a little after its last event', async () => {
    server.setScript(() => ({
      end: 'bare',
      events: (async function* () {
        yield* written({ content: FACTS });
        yield 'data: [DONE]\n\n';
        await sleep(20);
      })(),
    }));
    const model = chat();
    const questions = 8;
    for (let i = 0; i < questions; i += 1) await model.ask(CALL, NEVER);
    // undici opens a second one for a question that comes before it has put the first one back, and a busy machine may lose one.
    expect(server.connections()).toBeLessThanOrEqual(questions / 2);
  });
});

describe('what a server says in the middle of an answer means what it means in the place of one', () => {
  const BEGUN = delta({ content: HALVES[0] });
  /** What becomes of a question, and how often it is asked. */
  const outcomeOf = async (stream: 'on' | 'off', reply: Reply) => {
    const before = server.calls.length;
    server.setScript(() => reply);
    const { code, retryable } = (await chat({ stream })
      .ask(CALL, NEVER)
      .catch((error: unknown) => error as EngineError)) as EngineError;
    return { code, retryable, calls: server.calls.length - before };
  };

  test.each<[string, object, string]>([
    [
      'too long a context',
      { error: { message: 'the request exceeds the available context size' } },
      'context_too_long',
    ],
    ['an error of a gateway', { error: { message: 'Provider returned error', code: 502 } }, 'model_rejected'],
    ['an error as a text', { error: 'no capacity' }, 'model_rejected'],
    ['an error without a word', { error: {} }, 'model_rejected'],
    ['an error in a list', [{ error: { message: 'no capacity' } }], 'model_rejected'],
    ['an error of an older vLLM', { object: 'error', message: 'no capacity' }, 'model_rejected'],
    [
      'a full account',
      { error: { message: 'Incorrect API key provided', type: 'authentication_error' } },
      'model_rejected',
    ],
    ['that the model failed', { error: { message: 'Failed', code: 'json_validate_failed' } }, 'model_output_unusable'],
    ['that it is filtered', { error: { message: 'Blocked', code: 'content_filter' } }, 'model_rejected'],
  ])('%s', async (_name, body, code) => {
    const inPlace = await outcomeOf('off', { status: 200, body });
    expect(inPlace).toMatchObject({ code });
    expect(await outcomeOf('on', { events: [BEGUN, body] })).toEqual(inPlace);
    expect(await outcomeOf('on', { events: [body] })).toEqual(inPlace);
  });

  test.each<[string, object | string, object]>([
    [
      'an error by the name of its event',
      'event: error\ndata: {"message":"no capacity"}\n\n',
      { code: 'model_rejected', retryable: true },
    ],
    ['a refusal', delta({ refusal: 'I cannot help with that.' }, 'stop'), { code: 'model_rejected', retryable: false }],
    ['a stop by its filter', delta({}, 'content_filter'), { code: 'model_rejected', retryable: false }],
    ['an error as the end', delta({}, 'error'), { code: 'model_rejected', retryable: true }],
  ])('%s', async (_name, event, expected) => {
    expect(await outcomeOf('on', { events: [BEGUN, event] })).toEqual({ ...expected, calls: 1 });
  });

  test.each<[string, Reply, object]>([
    ['nothing at all', { events: [] }, { code: 'model_server_error' }],
    ['lines without an event', { events: [': ping\n\n'] }, { code: 'model_server_error' }],
    ['a connection that breaks', { events: [BEGUN], end: 'drop' }, { code: 'model_unreachable' }],
    ['a connection that breaks before it', { events: [], end: 'drop' }, { code: 'model_unreachable' }],
  ])('%s is no answer', async (_name, reply, expected) => {
    await expect(answerTo(reply)).rejects.toMatchObject({ ...expected, retryable: true });
  });

  test('a model that is too slow is given up after the whole time, however much it writes', async () => {
    server.setScript(() => ({ events: dripping('x'.repeat(1_000), 20) }));
    await expect(chat({ timeoutMs: 200 }).ask(CALL, NEVER)).rejects.toMatchObject({
      code: 'model_timeout',
      retryable: true,
    });
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
  });

  test('a question that is cancelled meanwhile hangs up', async () => {
    server.setScript(() => ({ events: dripping('x'.repeat(1_000), 20) }));
    const cancel = new AbortController();
    const waiting = chat().ask(CALL, cancel.signal);
    await expect.poll(() => server.calls[0]?.status).toBe(200);
    cancel.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled', retryable: true });
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
  });

  test('a model that is too slow is paid for what it wrote', async () => {
    server.setScript(() => ({ events: [delta({ reasoning: 'x'.repeat(400) })], end: 'silent' }));
    const asking = chat({ timeoutMs: 1_000 }).ask(CALL, NEVER); // enough for a busy machine to hear the beginning
    await expect(asking).rejects.toMatchObject({
      written: 100,
      message: expect.stringContaining('only about the first 100'),
    });
  });

  const MEGABYTE = 'x'.repeat(1_048_576);
  function* endless<T>(event: T): Generator<T> {
    for (;;) yield event;
  }
  function* counting(): Generator<object> {
    for (let i = 0; ; i += 1)
      yield delta({ content: Array.from({ length: 100_000 }, (_, j) => i * 100_000 + j).join(' ') });
  }
  test.each<[string, Iterable<unknown>]>([
    ['one event', endless(MEGABYTE)],
    ['lines that are none', endless(`: ${MEGABYTE}\n\n`)],
    ['a text', counting()],
    ['events without a word', endless(`data: ${JSON.stringify({ ...delta({}), padding: MEGABYTE })}\n\n`)],
  ])('%s without an end is cut off', async (_name, events) => {
    server.setScript(() => ({ events }));
    const asking = chat({ timeoutMs: 30_000 }).ask(CALL, NEVER);
    await expect(asking).rejects.toMatchObject({ code: 'model_output_unusable', retryable: true });
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
  });
});

describe('a model that says the same over and over', () => {
  function* laughing(times: number): Generator<object> {
    yield delta({ content: '{"facts":["' });
    for (let i = 0; i < times; i += 1) yield delta({ content: 'ha ' });
    yield delta({ content: '"]}' }, 'stop');
  }
  const laughter = (times: number) => `{"facts":["${'ha '.repeat(times)}"]}`;

  test('is cut off, and what it wrote is paid for as it would be at its end', async () => {
    const answer = await answerTo({ events: laughing(100_000) });
    expect(answer).toMatchObject({ truncated: true, text: expect.stringMatching(/^\{"facts":\["(?:ha )+$/u) });
    expect(answer.text.length).toBeLessThan(2_000);
    const { promptTokens, completionTokens } = answer.usage;
    expect(completionTokens).toBe(estimateTokens(answer.text));
    expect(promptTokens).toBeGreaterThan(0);
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
  });

  test('does not cost its server the streams: nobody could count what was cut off', async () => {
    const model = chat({ stream: 'auto' });
    server.setScript(() => ({ events: laughing(100_000) }));
    for (let i = 0; i < 2; i += 1) await model.ask(CALL, NEVER);
    expect(server.calls.map(({ request }) => request.stream)).toEqual([true, true]);
  });

  test('is heard to its end where it is quoted, or short', async () => {
    expect(await answerTo({ events: laughing(300) })).toMatchObject({ text: laughter(300), truncated: false });
    server.setScript(() => ({ events: laughing(1_000) }));
    const said = await chat().ask({ ...CALL, user: `${CALL.user}\n${'ha '.repeat(1_000)}` }, NEVER);
    expect(said).toMatchObject({ text: laughter(1_000), truncated: false });
  });

  test('is warned of in the log, without what it says', async () => {
    const warned: unknown[] = [];
    server.setScript(() => ({ events: laughing(100_000) }));
    const log = { ...QUIET, warn: (...said: unknown[]) => void warned.push(said) };
    await chat({ log }).ask(CALL, NEVER);
    expect(JSON.stringify(warned)).toContain('repeats itself endlessly');
    expect(JSON.stringify(warned)).not.toContain('ha ha');
  });
});

describe('a model that has begun to write', () => {
  /** So long that no test waits for it. */
  const timeoutMs = 600_000;
  async function* later(ms: number, events: Iterable<object | string>): AsyncGenerator<object | string> {
    await sleep(ms);
    yield* events;
  }

  test.each<[string, Iterable<unknown> | AsyncIterable<unknown>]>([
    ['nothing', [delta({ content: HALVES[0] })]],
    ['nothing after its thoughts', [delta({ reasoning_content: 'Hm.' })]],
    ['nothing after the name of a tool', [delta({ tool_calls: [{ index: 0, function: { arguments: '{' } }] })]],
    ['lines without events', dripping([HALVES[0]], 1)],
  ])('and sends %s any more is given up', async (_name, events) => {
    async function* alive(): AsyncGenerator<unknown> {
      yield* events;
      for (;;) yield* later(20, [': ping\n\n']);
    }
    server.setScript(() => ({ events: alive(), end: 'silent' }));
    const asking = chat({ timeoutMs, idleTimeoutMs: 150 }).ask(CALL, NEVER);
    await expect(asking).rejects.toMatchObject({
      code: 'model_timeout',
      retryable: true,
      written: expect.toSatisfy((tokens: number) => tokens > 0),
      message: expect.stringMatching(/to continue .* within 150 ms, .*SLOWWAVE_CHAT_IDLE_TIMEOUT_MS/u),
    });
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
  });

  test('and has come to its end is not waited for, whether its server knows that or not', async () => {
    server.setScript(() => ({ events: written({ content: FACTS }), end: 'silent' }));
    const answer = await chat({ timeoutMs, idleTimeoutMs: timeoutMs }).ask(CALL, NEVER);
    expect(answer).toMatchObject({ text: FACTS, truncated: false });
    await expect.poll(() => server.calls[0]?.aborted).toBe(true);
  });

  test.each(['', 'stop'])('and says with each word that it ends with "%s" is heard to its end', async (reason) => {
    async function* events(): AsyncGenerator<object> {
      yield delta({ content: HALVES[0] }, reason);
      await sleep(2_500);
      yield delta({ content: HALVES[1] }, 'stop');
    }
    server.setScript(() => ({ events: events() }));
    expect((await chat({ timeoutMs, idleTimeoutMs: 20_000 }).ask(CALL, NEVER)).text).toBe(FACTS);
  });

  test('and goes on slowly comes to its end', async () => {
    const pieces = FACTS.match(/.{1,3}/gsu) ?? [];
    server.setScript(() => ({ events: dripping(pieces, 100), end: 'bare' }));
    const idleTimeoutMs = (pieces.length - 1) * 100;
    expect((await chat({ timeoutMs, idleTimeoutMs }).ask(CALL, NEVER)).text).toBe(FACTS);
  });

  test('may read for as long as it has time, also where its server greets at once', async () => {
    const greeting = delta({ role: 'assistant', content: '' });
    async function* reading(): AsyncGenerator<unknown> {
      yield greeting;
      yield* later(500, [delta({ content: FACTS }, 'stop')]); // in one event: a busy machine may read a second one late
    }
    server.setScript(() => ({ events: reading() }));
    expect((await chat({ timeoutMs, idleTimeoutMs: 100 }).ask(CALL, NEVER)).text).toBe(FACTS);
  });
});
