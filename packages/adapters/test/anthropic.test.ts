import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatCall, Log } from '@slowwave/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openaiChat } from '../src/openai/index.ts';

const CALL: ChatCall = {
  name: 'extract_facts',
  system: 'extract_facts\nFind.',
  user: 'Find.\n{"messages":[]}',
  schema: { type: 'object', properties: { facts: { type: 'array' } } },
};
const NEVER = new AbortController().signal;

interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** A server that speaks the Messages API and gives its answers in turn, the last one again and again. */
let server: Server;
let baseUrl: string;
let received: Received[];
let answers: { readonly status: number; readonly body: object; readonly headers?: Record<string, string> }[];

beforeEach(async () => {
  received = [];
  answers = [{ status: 200, body: message('{"facts":[]}') }];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({
      url: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
    });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    response.writeHead(answer?.status ?? 500, { 'content-type': 'application/json', ...answer?.headers });
    response.end(JSON.stringify(answer?.body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(() => new Promise((done) => server.close(done)));

function message(text: string, more: object = {}) {
  return {
    ...{ id: 'msg_01', type: 'message', role: 'assistant', model: 'claude-m' },
    content: [{ type: 'text', text }],
    ...{ stop_reason: 'end_turn', stop_sequence: null },
    usage: {
      ...{ input_tokens: 40, cache_creation_input_tokens: 0, cache_read_input_tokens: 1_200, output_tokens: 9 },
    },
    ...more,
  };
}
const error = (status: number, type: string, said: string) => ({
  status,
  body: { type: 'error', error: { type, message: said }, request_id: 'req_01' },
});

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ask = (call: ChatCall = CALL, more: Partial<Parameters<typeof openaiChat>[0]> = {}) =>
  openaiChat({
    ...{ api: 'anthropic', apiKey: 'sk-ant-secret', baseUrl, model: 'claude-m', timeoutMs: 5_000, log: silent },
    ...more,
  }).ask(call, NEVER);

describe('a model behind the Messages API', () => {
  test('is asked there, with the schema of its answer and instructions that are cached', async () => {
    const answer = await ask();

    const [{ url, headers, body } = { url: '', headers: {}, body: {} }] = received;
    expect(url).toBe('/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': 'sk-ant-secret', 'anthropic-version': '2023-06-01' });
    expect(headers).not.toHaveProperty('authorization');
    expect(body).toMatchObject({
      model: 'claude-m',
      system: [{ type: 'text', text: CALL.system, cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: CALL.user }],
      output_config: { format: { type: 'json_schema', schema: CALL.schema } },
    });
    expect(body.max_tokens).toBeGreaterThan(0);
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['response_format']));
    expect(answer).toEqual({
      text: '{"facts":[]}',
      model: 'claude-m',
      usage: { promptTokens: 1_240, completionTokens: 9, cachedTokens: 1_200 },
      truncated: false,
    });
  });

  test('reads the text behind its thinking', async () => {
    const content = [
      { type: 'thinking', thinking: 'Nothing {to} remember.', signature: 'x' },
      { type: 'text', text: '{"facts":[]}' },
    ];
    answers = [{ status: 200, body: message('', { content }) }];

    const places: string[] = [];
    expect((await ask(CALL, { watch: { thought: (place) => places.push(place) } })).text).toBe('{"facts":[]}');
    expect(places).toEqual(['thinking']);
  });

  test.each(['max_tokens', 'model_context_window_exceeded'])('is cut off by %s', async (reason) => {
    answers = [{ status: 200, body: message('{"facts":[{', { stop_reason: reason }) }];

    expect((await ask()).truncated).toBe(true);
  });

  test('sees images, by address or as they are', async () => {
    await ask({ ...CALL, images: ['https://example.com/cat.png', 'data:image/png;base64,aGk='] });

    expect(received[0]?.body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          { type: 'text', text: CALL.user },
        ],
      },
    ]);
  });

  test('is asked without what it refuses, and the schema then stands in the prompt', async () => {
    answers = [
      error(400, 'invalid_request_error', '`temperature` is deprecated for this model.'),
      error(400, 'invalid_request_error', 'output_config.format: this model does not support structured outputs'),
      { status: 200, body: message('{"facts":[]}') },
    ];

    await ask();

    const [, second, third] = received.map(({ body }) => body);
    expect(second).not.toHaveProperty('temperature');
    expect(third).not.toHaveProperty('output_config');
    expect(JSON.stringify(third?.system)).toContain('Its JSON schema');
  });
});

describe('what it says instead of an answer, in its own words', () => {
  test.each([
    [
      'a wrong key',
      error(401, 'authentication_error', 'invalid x-api-key'),
      { code: 'model_misconfigured', retryable: true },
    ],
    [
      'a wrong model',
      error(404, 'not_found_error', 'model: claude-none'),
      { code: 'model_misconfigured', retryable: true },
    ],
    [
      'too long',
      error(400, 'invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'),
      { code: 'context_too_long', retryable: false },
    ],
    [
      'too large',
      error(413, 'request_too_large', 'Request exceeds the maximum size'),
      { code: 'context_too_long', retryable: false },
    ],
    [
      'no credit',
      error(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      { code: 'model_overloaded', retryable: true },
    ],
    [
      'too many',
      error(429, 'rate_limit_error', 'This request would exceed your rate limit.'),
      { code: 'model_overloaded', retryable: true },
    ],
    ['overloaded', error(529, 'overloaded_error', 'Overloaded'), { code: 'model_server_error', retryable: true }],
    ['a fault', error(500, 'api_error', 'Internal server error'), { code: 'model_server_error', retryable: true }],
    [
      'an error in a success',
      { ...error(200, 'overloaded_error', 'Overloaded'), status: 200 },
      { code: 'model_rejected', retryable: true },
    ],
    [
      'a refusal',
      { status: 200, body: message('', { stop_reason: 'refusal' }) },
      { code: 'model_rejected', retryable: false },
    ],
  ])('%s', async (_name, answer, verdict) => {
    answers = [answer];

    await expect(ask()).rejects.toMatchObject(verdict);
  });

  test('says when to come back', async () => {
    answers = [{ ...error(429, 'rate_limit_error', 'Slow down.'), headers: { 'retry-after': '7' } }];

    await expect(ask()).rejects.toMatchObject({ code: 'model_overloaded', retryAfterMs: 7_000 });
  });
});
