import type { ChatCall, Log } from '@slowwave/engine';
import { type ModelServer, type Reply, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openaiChat } from '../src/openai/index.ts';
import { o200kTokenizer } from '../src/tokens.ts';

const CALL: ChatCall = {
  name: 'extract_facts',
  system: 'extract_facts\nFind.',
  user: 'Find.\n{}',
  schema: { type: 'object' },
};
const NEVER = new AbortController().signal;

let server: ModelServer;
let warnings: string[];
beforeEach(async () => {
  warnings = [];
  server = await startModelServer({});
});
afterEach(() => server.close());

const log = (): Log => ({
  ...{ debug: () => {}, info: () => {}, error: () => {} },
  warn: (_fields, message) => void warnings.push(message),
});
const chat = () =>
  openaiChat({ apiKey: 'sk-secret-key', baseUrl: server.baseUrl, model: 'm', timeoutMs: 5_000, log: log() });
const ask = (reply: Reply, call: ChatCall = CALL) => {
  server.setScript(() => reply);
  return chat().ask(call, NEVER);
};
const message = (fields: object, more: object = {}): Reply => ({
  status: 200,
  body: { choices: [{ message: fields, finish_reason: 'stop', ...more }] },
});
const FACTS = '{"facts":[]}';

describe('what providers say instead of an answer, in their own words', () => {
  const gemini = (text: string): Reply => ({
    status: 400,
    body: [{ error: { code: 400, message: text, status: 'INVALID_ARGUMENT' } }],
  });
  const plain = (status: number, error: object): Reply => ({ status, body: { error } });
  const TOO_LONG = { code: 'context_too_long' };
  const WAITS = { code: 'model_misconfigured', countsAsTry: false, retryable: true };
  const UNUSABLE = { code: 'model_output_unusable', retryable: true };

  test.each<[string, Reply, object]>([
    ['Gemini: a wrong key', gemini('API key not valid. Please pass a valid API key.'), WAITS],
    [
      'Gemini: a wrong key, in an error in an error',
      plain(400, {
        message:
          '{\n  "error": {\n    "code": 400,\n    "message": "API key not valid. Please pass a valid API key.",\n    "status": "INVALID_ARGUMENT"\n  }\n}\n',
        code: 400,
        status: 'Bad Request',
      }),
      WAITS,
    ],
    [
      'Gemini: too long',
      gemini('The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).'),
      TOO_LONG,
    ],
    [
      'Groq: the model failed',
      plain(400, {
        message: "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
        ...{ type: 'invalid_request_error', code: 'json_validate_failed', failed_generation: '```json\n{"title": "' },
      }),
      UNUSABLE,
    ],
    [
      'Groq: the model failed at a tool',
      plain(400, {
        message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        ...{ type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: '' },
      }),
      UNUSABLE,
    ],
    [
      'vLLM: longer than the model',
      {
        status: 400,
        body: {
          object: 'error',
          message: 'Prompt length of 5016 is longer than the maximum model length of 4096.',
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
      },
      TOO_LONG,
    ],
    [
      'vLLM: longer with its answer',
      {
        status: 400,
        body: {
          object: 'error',
          message:
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
      },
      TOO_LONG,
    ],
    [
      'xAI: too long',
      {
        status: 400,
        body: {
          code: 'Client specified an invalid argument',
          error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
        },
      },
      TOO_LONG,
    ],
    [
      'TGI: too long with its answer',
      {
        status: 422,
        body: {
          error:
            'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens and 1024 `max_new_tokens`',
          error_type: 'validation',
        },
      },
      TOO_LONG,
    ],
    [
      'TGI: too long',
      {
        status: 422,
        body: {
          error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1168',
          error_type: 'validation',
        },
      },
      TOO_LONG,
    ],
    [
      'llama.cpp: too long',
      plain(400, {
        code: 400,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14429,
        n_ctx: 8192,
      }),
      TOO_LONG,
    ],
    [
      'Anthropic: too long',
      plain(400, { type: 'invalid_request_error', message: 'prompt is too long: 202128 tokens > 200000 maximum' }),
      TOO_LONG,
    ],
    [
      'Mistral: too long',
      {
        status: 400,
        body: {
          object: 'error',
          message: 'Too many tokens in batch. Max is 16384 got 17555',
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      },
      TOO_LONG,
    ],
  ])('%s', async (_name, reply, expected) => {
    await expect(ask(reply)).rejects.toMatchObject(expected);
  });

  test.each([
    [
      'Gemini: a schema it does not take',
      gemini('Invalid value at "generation_config.response_schema": Proto field is not repeating, cannot start list.'),
    ],
    [
      'a schema it does not take, without a word about it',
      plain(400, { message: 'Request contains an invalid argument.' }),
    ],
  ])('%s is asked once more in a lower form', async (_name, refused) => {
    server.setScript(({ request }) =>
      JSON.stringify(request.response_format).includes('json_schema') ? refused : message({ content: FACTS }),
    );
    const model = chat();
    expect((await model.ask(CALL, NEVER)).text).toBe(FACTS);
    expect((await model.ask(CALL, NEVER)).text).toBe(FACTS);
    expect(server.calls.map(({ request }) => (request.response_format as { type?: string }).type)).toEqual([
      'json_schema',
      'json_object',
      'json_object',
    ]);
  });

  test('a refusal without a word after an answer is about the question, and is not asked again', async () => {
    server.setScript(({ count }) =>
      count === 1 ? message({ content: FACTS }) : plain(400, { message: 'Request contains an invalid argument.' }),
    );
    const model = chat();
    await model.ask(CALL, NEVER);
    await expect(model.ask(CALL, NEVER)).rejects.toMatchObject({ code: 'model_rejected' });
    expect(server.calls).toHaveLength(2);
  });

  test('a template without a system role is told everything by the user', async () => {
    server.setScript(({ request }) =>
      JSON.stringify(request.messages).includes('"system"')
        ? plain(400, { message: 'System role not supported' })
        : message({ content: FACTS }),
    );
    expect((await chat().ask(CALL, NEVER)).text).toBe(FACTS);
    expect(server.calls.at(-1)?.request.messages).toEqual([
      { role: 'user', content: `${CALL.system}\n\n${CALL.user}` },
    ]);
  });
});

describe('where an answer stands', () => {
  test.each<[string, object, string]>([
    ['in the content', { content: FACTS, reasoning_content: '{"facts":["draft"]}' }, FACTS],
    ['in what a parser took for thinking', { content: null, reasoning_content: FACTS }, FACTS],
    ['in thinking by another name', { content: '', reasoning: FACTS }, FACTS],
    [
      'in the arguments of a tool',
      { content: null, tool_calls: [{ function: { name: 'extract_facts', arguments: FACTS } }] },
      FACTS,
    ],
    [
      'in arguments that are an object',
      { content: null, tool_calls: [{ function: { arguments: { facts: [] } } }] },
      FACTS,
    ],
    ['in parts', { content: [{ text: '{"facts":' }, { text: '[]}' }] }, FACTS],
    ['nowhere: thoughts in prose are none', { content: null, reasoning_content: 'The user greets.' }, ''],
  ])('%s', async (_name, fields, text) => {
    expect((await ask(message(fields))).text).toBe(text);
  });

  test('a model that was cut off while it thought has not answered', async () => {
    const answer = await ask(
      message({ content: null, reasoning_content: 'so {"facts":[' }, { finish_reason: 'length' }),
    );
    expect(answer).toMatchObject({ text: '', truncated: true });
  });
});

describe('a question that is asked again', () => {
  test('is never sent in the same way', async () => {
    const bodies: string[] = [];
    for (const again of [0, 1, 2, 3]) {
      await ask(message({ content: FACTS }), { ...CALL, again });
      bodies.push(JSON.stringify(server.calls.at(-1)?.request));
    }
    expect(new Set(bodies).size).toBe(4);
    expect(bodies.map((body) => /"type":"(json_\w+)"/u.exec(body)?.[1])).toEqual([
      'json_schema',
      'json_schema',
      'json_object',
      'json_object',
    ]);
  });
});

describe('a window that is cut in silence', () => {
  const sent: ChatCall = { ...CALL, user: `Find.\n${JSON.stringify({ said: 'I like figs. '.repeat(2_000) })}` };
  const counted = (prompt: number): Reply => ({
    status: 200,
    body: { choices: [{ message: { content: FACTS } }], usage: { prompt_tokens: prompt, completion_tokens: 5 } },
  });

  test('is seen from what the server counts, and said', async () => {
    await ask(counted(2_050), sent);
    expect(warnings).toEqual([expect.stringContaining('read much less than it was sent')]);
  });

  test('is not suspected of a script that takes fewer tokens than is estimated', async () => {
    const thai = 'ฉันย้ายจากลิสบอนมาออสโลเมื่อสัปดาห์ที่แล้ว '.repeat(200);
    const call = { ...CALL, user: `Find.\n${JSON.stringify({ said: thai })}` };
    await ask(counted(Math.ceil(o200kTokenizer.count(call.system + call.user) * 0.9)), call);
    expect(warnings).toEqual([]);
  });

  test.each([0, 5_000, 9_000])('is not suspected where it counts %i tokens', async (tokens) => {
    await ask(counted(tokens), sent);
    expect(warnings).toEqual([]);
  });
});
