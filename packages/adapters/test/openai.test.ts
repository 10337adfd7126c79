import type { ChatCall, ChatModel, Log } from '@slowwave/engine';
import { type ModelServer, refusal, type Script, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openaiChat } from '../src/openai/index.ts';

const CALL: ChatCall = {
  name: 'extract_facts',
  system: 'Find the facts.',
  user: 'The messages:\n{"messages":[{"id":"m0"}]}',
  schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
};
const NEVER = new AbortController().signal;
const QUIET: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ script: () => ({ json: { facts: [] } }), apiKey: 'secret-key' });
});
afterEach(() => server.close());

const connected = (options: Partial<Parameters<typeof openaiChat>[0]> = {}): ChatModel =>
  openaiChat({
    apiKey: 'secret-key',
    baseUrl: server.baseUrl,
    model: 'gpt-test',
    timeoutMs: 5000,
    log: QUIET,
    ...options,
  });

/** Answers, but refuses whatever the given check complains about. */
const picky = (complaint: (request: Record<string, unknown>) => Parameters<typeof refusal>[1] | null): Script => {
  return ({ request }) => {
    const error = complaint(request);
    return error === null ? { json: { facts: [] } } : refusal(400, error);
  };
};
const formats = (): unknown[] =>
  server.calls.map(({ request }) => (request.response_format as { type: string } | undefined)?.type ?? 'text');

describe('a question', () => {
  test('asks for the schema by name, strictly, at temperature 0', async () => {
    const answer = await connected().ask(CALL, NEVER);
    const usage = {
      promptTokens: server.calls[0]?.tokens.prompt,
      completionTokens: server.calls[0]?.tokens.completion,
    };
    expect(answer).toEqual({ text: '{"facts":[]}', model: 'gpt-test', usage, truncated: false });
    expect(server.calls).toMatchObject([
      { name: 'extract_facts', input: { messages: [{ id: 'm0' }] }, system: CALL.system },
    ]);
    expect(server.calls[0]?.request).toMatchObject({
      model: 'gpt-test',
      temperature: 0,
      response_format: { json_schema: { name: 'extract_facts', strict: true, schema: CALL.schema } },
    });
  });

  test('never sends half characters, which strict servers refuse', async () => {
    await connected().ask({ ...CALL, user: 'cut \ud83d\n{"a":"\ud83d"}' }, NEVER);
    expect(server.calls[0]?.input).toEqual({ a: '�' });
  });

  test('says when the answer broke off', async () => {
    server.setScript(() => ({ text: '{"facts":[{"te', finish: 'length' }));
    expect(await connected().ask(CALL, NEVER)).toMatchObject({ text: '{"facts":[{"te', truncated: true });
  });

  test('takes an empty answer for an answer, and one in parts for a text', async () => {
    const body = (content: unknown): object => ({ choices: [{ message: { content }, finish_reason: 'stop' }] });
    server.setScript(({ count }) => ({ status: 200, body: body(count === 1 ? null : [{ type: 'text', text: '{}' }]) }));
    const empty = await connected().ask(CALL, NEVER);
    expect(empty).toMatchObject({ text: '', model: 'gpt-test', usage: { completionTokens: 0 } });
    expect(empty.usage.promptTokens).toBeGreaterThan(5);
    expect(await connected().ask(CALL, NEVER)).toMatchObject({ text: '{}' });
  });

  test('needs no key where the server needs none', async () => {
    const open = await startModelServer({ script: () => ({ json: {} }) });
    const answer = await connected({ apiKey: null, baseUrl: open.baseUrl }).ask(CALL, NEVER);
    await open.close();
    expect(answer.text).toBe('{}');
  });
});

describe('a server without structured output', () => {
  test('is asked in JSON mode from then on, with name and schema in the system prompt', async () => {
    const older = await startModelServer({ structuredOutput: 'unsupported', script: () => ({ json: { facts: [] } }) });
    const warnings: object[] = [];
    const log = { ...QUIET, warn: (fields: object) => void warnings.push(fields) };
    const model = connected({ baseUrl: older.baseUrl, log });
    const answers = [await model.ask(CALL, NEVER), await model.ask({ ...CALL, system: `${CALL.name} Find.` }, NEVER)];
    await older.close();
    expect(answers.map(({ text }) => text)).toEqual(['{"facts":[]}', '{"facts":[]}']);
    expect(older.calls.map(({ status }) => status)).toEqual([400, 200, 200]);
    expect(older.calls.map(({ name }) => name)).toEqual(['extract_facts', 'extract_facts', 'extract_facts']);
    const form = `Answer with one JSON object and nothing else. Its JSON schema: ${JSON.stringify(CALL.schema)}`;
    expect(older.calls.map(({ system }) => system).slice(1)).toEqual([
      `extract_facts\n${form}\n\nFind the facts.`,
      `extract_facts\n${form}\n\nFind.`,
    ]);
    expect(warnings).toHaveLength(1);
  });

  test('is asked for plain text when it takes no JSON mode either', async () => {
    server.setScript(
      picky(({ response_format }) => (response_format ? { message: "'response_format.type' is not supported" } : null)),
    );
    expect(await connected().ask(CALL, NEVER)).toMatchObject({ text: '{"facts":[]}' });
    expect(formats()).toEqual(['json_schema', 'json_object', 'text']);
    expect(server.calls.at(-1)?.name).toBe('extract_facts');
  });

  test.each<[string, ReturnType<Script>]>([
    ['the words of an older vLLM', { status: 400, body: { object: 'error', message: 'guided_json is not supported' } }],
    ['a detail', { status: 422, body: { detail: [{ loc: ['body', 'response_format'], msg: 'Extra inputs' }] } }],
    ['plain text', { status: 400, body: 'json_schema: unknown format' }],
    ['a success with an error in it', { status: 200, body: { error: { message: 'json_schema unsupported' } } }],
    ['a server error', { status: 500, body: { error: 'failed to parse grammar' } }],
  ])('is understood when it refuses with %s', async (_, reply) => {
    server.setScript(({ count }) => (count === 1 ? reply : { json: {} }));
    expect(await connected().ask(CALL, NEVER)).toMatchObject({ text: '{}' });
    expect(formats()).toEqual(['json_schema', 'json_object']);
  });

  test('costs every question in flight one refusal and no answer', async () => {
    const older = await startModelServer({
      structuredOutput: 'unsupported',
      script: () => ({ json: {} }),
      latencyMs: 20,
    });
    const model = connected({ baseUrl: older.baseUrl });
    const answers = await Promise.all([1, 2, 3].map(() => model.ask(CALL, NEVER)));
    await older.close();
    expect(answers).toHaveLength(3);
    expect(older.calls.map(({ status }) => status)).toEqual([400, 400, 400, 200, 200, 200]);
  });
});

test('a model that refuses a temperature is asked without, and still with its schema', async () => {
  const complaint = { message: "Unsupported value: 'temperature' does not support 0", param: 'temperature' };
  server.setScript(picky(({ temperature }) => (temperature === undefined ? null : complaint)));
  const model = connected();
  await model.ask(CALL, NEVER);
  await model.ask(CALL, NEVER);
  expect(server.calls.map(({ request }) => request.temperature)).toEqual([0, undefined, undefined]);
  expect(formats()).toEqual(['json_schema', 'json_schema', 'json_schema']);
});

describe('what an operator adds to requests', () => {
  test('goes out with each, over what is sent anyway', async () => {
    const extraBody = { temperature: 1, reasoning_effort: 'low', chat_template_kwargs: { enable_thinking: false } };
    await connected({ extraBody }).ask(CALL, NEVER);
    expect(server.calls[0]?.request).toMatchObject({ model: 'gpt-test', ...extraBody });
  });

  test('may be a header that takes the place of the key, and is told in no error or log', async () => {
    const secret = 'other-secret';
    const said: object[] = [];
    const log = { ...QUIET, warn: (fields: object) => void said.push(fields) };
    const extraHeaders = { authorization: `Bearer ${secret}` };
    const refused = await connected({ extraHeaders }).ask(CALL, NEVER).catch(String);
    expect(refused).toContain('got status 401');
    const open = await startModelServer({
      apiKey: secret,
      script: picky(({ temperature, user }) =>
        temperature === undefined && user === undefined ? null : { message: `temperature? ${secret}` },
      ),
    });
    await connected({ apiKey: null, baseUrl: open.baseUrl, extraHeaders, log }).ask(CALL, NEVER);
    const asked = connected({ apiKey: null, baseUrl: open.baseUrl, extraHeaders, extraBody: { user: 'x' }, log });
    await expect(asked.ask(CALL, NEVER)).rejects.toThrow('temperature? [key]');
    await open.close();
    expect(said.length).toBeGreaterThan(1);
    expect(JSON.stringify(said)).not.toContain(secret);
  });

  test('may be a key in the body, at any depth, which is told in no error either', async () => {
    const open = await startModelServer({
      script: ({ request }) => refusal(400, { message: `cannot read ${JSON.stringify(request.gateway)}` }),
    });
    const gateway = { api_key: 'gateway-secret', auth: { values: ['other-secret'] }, route: 'the-nearest' };
    const said = await connected({ baseUrl: open.baseUrl, extraBody: { gateway } }).ask(CALL, NEVER).catch(String);
    await open.close();
    expect(said).toContain('{"api_key":"[key]","auth":{"values":["[key]"]},"route":"the-nearest"}');
  });

  test('a dummy key is no secret: what a server says stays readable', async () => {
    const open = await startModelServer({ script: () => refusal(400, { message: 'the request exceeds the context' }) });
    const asked = connected({ apiKey: 'x', baseUrl: open.baseUrl }).ask(CALL, NEVER);
    await expect(asked).rejects.toThrow('"the request exceeds the context"');
    await open.close();
  });
});
