import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatCall, EngineError, type Log } from '@slowwave/engine';
import { freePort, type ModelServer, type Reply, refusal, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openaiChat } from '../src/openai/index.ts';

const CALL: ChatCall = { name: 'extract_facts', system: 'Find.', user: '{}', schema: { type: 'object' } };
const NEVER = new AbortController().signal;
const QUIET: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const KEY = 'sk-secret-key';

// Each failure is the same whether the server is asked with a schema or in JSON mode.
describe.each(['supported', 'unsupported'] as const)('with structured output %s', (structuredOutput) => {
  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer({ structuredOutput });
  });
  afterEach(() => server.close());

  const fail = (reply: Reply, timeoutMs = 5000): Promise<EngineError> => {
    server.setScript(() => reply);
    return failure({ baseUrl: server.baseUrl, timeoutMs });
  };
  const status = (code: number, message: string, more: object = {}): Reply => ({
    ...refusal(code, { message, ...more }),
  });
  const finish = (choice: object): Reply => ({ status: 200, body: { choices: [choice] } });

  test.each<[string, Reply, object]>([
    [
      'a rate limit',
      status(429, 'Rate limit reached'),
      { code: 'model_overloaded', retryable: true, retryAfterMs: null },
    ],
    [
      'no credit',
      status(429, 'You exceeded your current quota', { code: 'insufficient_quota' }),
      { code: 'model_overloaded', retryable: true, message: expect.stringContaining('top it up') },
    ],
    ['no balance', status(402, 'Insufficient Balance'), { code: 'model_overloaded', retryable: true }],
    ['a server error', status(500, 'Internal error'), { code: 'model_server_error', retryable: true }],
    [
      'a bad gateway with a page',
      { status: 502, body: '<html>Bad gateway</html>' },
      { code: 'model_server_error', retryable: true, message: expect.stringContaining('Bad gateway') },
    ],
    [
      'an overload',
      { status: 503, headers: { 'retry-after': '7' } },
      { code: 'model_server_error', retryable: true, retryAfterMs: 7000 },
    ],
    ['a request timeout', status(408, 'Timeout'), { code: 'model_timeout', retryable: true }],
    [
      'a wrong key',
      status(401, `Incorrect API key provided: ${KEY}`),
      { code: 'model_misconfigured', retryable: true, countsAsTry: false, message: expect.not.stringContaining(KEY) },
    ],
    [
      'a key that may not',
      status(403, 'Not allowed'),
      { code: 'model_misconfigured', retryable: true, countsAsTry: false },
    ],
    [
      'an unknown model',
      status(404, 'The model `x` does not exist', { code: 'model_not_found' }),
      { code: 'model_misconfigured', retryable: true, countsAsTry: false },
    ],
    [
      'an unknown model, said by others',
      status(400, 'Invalid model name'),
      { code: 'model_misconfigured', retryable: true, countsAsTry: false },
    ],
    [
      'a wrong path',
      { status: 404, body: '404 page not found' },
      {
        code: 'model_misconfigured',
        retryable: true,
        countsAsTry: false,
        message: expect.stringContaining('OPENAI_BASE_URL'),
      },
    ],
    [
      'too long a context',
      status(400, 'Too long', { code: 'context_length_exceeded' }),
      { code: 'context_too_long', retryable: false },
    ],
    [
      'too long a context, said by others',
      { status: 400, body: { object: 'error', message: "This model's maximum context length is 4096 tokens" } },
      { code: 'context_too_long', retryable: false },
    ],
    [
      'too long a context in a success',
      { status: 200, body: { error: { message: 'the request exceeds the available context size' } } },
      { code: 'context_too_long', retryable: false },
    ],
    [
      'an error in a success',
      { status: 200, body: { error: { message: 'Provider returned error' } } },
      { code: 'model_rejected', retryable: true },
    ],
    [
      'an error as a text in a success',
      { status: 200, body: { error: 'no capacity' } },
      { code: 'model_rejected', retryable: true },
    ],
    ['a request it does not take', status(400, 'Invalid role'), { code: 'model_rejected', retryable: false }],
    [
      'filtered input',
      status(400, 'Blocked', { code: 'content_filter' }),
      { code: 'model_rejected', retryable: false },
    ],
    [
      'a refusal',
      finish({ message: { refusal: 'I cannot help with that.' } }),
      { code: 'model_rejected', retryable: false },
    ],
    [
      'filtered output',
      finish({ message: { content: 'I' }, finish_reason: 'content_filter' }),
      { code: 'model_rejected', retryable: false },
    ],
    [
      'an error as the end',
      finish({ message: { content: '' }, finish_reason: 'error' }),
      { code: 'model_rejected', retryable: true },
    ],
    ['no choices', { status: 200, body: { choices: [] } }, { code: 'model_server_error', retryable: true }],
    [
      'text instead of JSON',
      { status: 200, body: 'Ollama is running' },
      { code: 'model_server_error', retryable: true },
    ],
    [
      'text that repeats what was said',
      { status: 200, headers: { 'content-type': 'application/json' }, body: 'you are ill' },
      { code: 'model_server_error', cause: undefined, message: expect.not.stringContaining('ill') },
    ],
    [
      'broken JSON',
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"choices": [' },
      { code: 'model_server_error', retryable: true },
    ],
    [
      'nothing',
      { status: 200, headers: { 'content-type': 'application/json' }, body: '' },
      { code: 'model_server_error', retryable: true },
    ],
    ['a dropped connection', { drop: true }, { code: 'model_unreachable', retryable: true }],
    ['a connection dropped in the middle', { drop: 'midway' }, { code: 'model_unreachable', retryable: true }],
  ])('%s', async (_, reply, expected) => {
    expect(await fail(reply)).toMatchObject(expected);
  });

  test.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '12' }, 12_000],
    ['fractions', { 'retry-after': '0.25' }, 250],
    ['milliseconds', { 'retry-after-ms': '150', 'retry-after': '1' }, 150],
    ['a date in the past', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ])('keeps how long a rate limit lasts, given in %s', async (_, headers, expected) => {
    const error = await fail({ status: 429, headers, body: { error: { message: 'slow down' } } });
    expect(error).toMatchObject({ code: 'model_overloaded', retryable: true, retryAfterMs: expected });
  });

  test('keeps how long a rate limit lasts, given as a date', async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    const { retryAfterMs } = await fail({ status: 429, headers: { 'retry-after': inAMinute } });
    expect(retryAfterMs).toBeGreaterThan(30_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  test.each([{ timeout: true }, { timeout: 'midway' }] as const)('a silent server: %o', async (reply) => {
    expect(await fail(reply, 150)).toMatchObject({ code: 'model_timeout', retryable: true });
  });

  test('a cancelled question hangs up and may be asked again', async () => {
    server.setScript(() => ({ timeout: true }));
    const cancel = new AbortController();
    const waiting = failure({ baseUrl: server.baseUrl, cancel: cancel.signal });
    await expect.poll(() => server.calls.at(-1)?.status).toBe(0);
    cancel.abort();
    expect(await waiting).toMatchObject({ code: 'cancelled', retryable: true });
    await expect.poll(() => server.calls.at(-1)?.aborted).toBe(true);
  });

  test('a question cancelled before it is asked never leaves', async () => {
    const error = await failure({ baseUrl: server.baseUrl, cancel: AbortSignal.abort() });
    expect(error).toMatchObject({ code: 'cancelled', retryable: true });
    expect(server.calls).toHaveLength(0);
  });
});

test('nobody there', async () => {
  const error = await failure({ baseUrl: `http://127.0.0.1:${await freePort()}/v1` });
  expect(error).toMatchObject({ code: 'model_unreachable', retryable: true, cause: expect.any(Error) });
  expect(error.message).toMatch(/ECONNREFUSED.*OPENAI_BASE_URL/u);
});

test('an error whose body never comes ends with the timeout, too', async () => {
  const server = createServer((_, response) => {
    response.writeHead(503, { 'content-length': '100' }).write('{');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const error = await failure({ baseUrl: `http://127.0.0.1:${port}/v1`, timeoutMs: 150 });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(error).toMatchObject({ code: 'model_timeout', retryable: true });
});

test('a base URL that is none is refused at the start', () => {
  const start = (): unknown =>
    openaiChat({ apiKey: KEY, baseUrl: 'localhost:11434', model: 'm', timeoutMs: 1, log: QUIET });
  expect(start).toThrow(/http:\/\/host:port\/v1, got "localhost:11434"/u);
});

test('a key that cannot be one is refused at the start, without being told', () => {
  const start = (): unknown =>
    openaiChat({ apiKey: 'sk-1\nsk-2', baseUrl: null, model: 'm', timeoutMs: 1, log: QUIET });
  expect(start).toThrow(/OPENAI_API_KEY/u);
  expect(start).not.toThrow(/sk-1/u);
});

async function failure(at: { baseUrl: string; timeoutMs?: number; cancel?: AbortSignal }): Promise<EngineError> {
  const { baseUrl, timeoutMs = 5000, cancel = NEVER } = at;
  const model = openaiChat({ apiKey: KEY, baseUrl, model: 'gpt-test', timeoutMs, log: QUIET });
  const outcome = await model.ask(CALL, cancel).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(EngineError);
  return outcome as EngineError;
}
