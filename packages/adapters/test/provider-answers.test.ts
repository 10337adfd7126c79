import { type ChatCall, estimateTokens, type Log } from '@slowwave/engine';
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
    expect(warnings).toEqual([expect.stringContaining('read far fewer tokens than it was sent')]);
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

describe('how long an answer may be', () => {
  const refused = (text: string): Reply => ({ status: 400, body: { error: { message: text } } });
  const limits = () =>
    server.calls.map(({ request: { max_completion_tokens: now, max_tokens: before } }) => [now, before]);
  const most = estimateTokens(CALL.system + CALL.user) * 4 + 1_000;
  const connected = (more: object = {}) =>
    openaiChat({ apiKey: null, baseUrl: server.baseUrl, model: 'm', timeoutMs: 5_000, log: log(), ...more });
  const askTwice = async (model = connected()) => {
    await model.ask(CALL, NEVER);
    await model.ask(CALL, NEVER);
    return limits();
  };

  test.each<[string, object, (number | undefined)[]]>([
    ['four times its question and some more', {}, [most, undefined]],
    ['what an operator says', { maxOutputTokens: 9_000 }, [9_000, undefined]],
    ['anything', { maxOutputTokens: null }, [undefined, undefined]],
    ['what the extra body says', { extraBody: { max_tokens: 70 } }, [undefined, 70]],
  ])('%s', async (_name, more, sent) => {
    server.setScript(() => message({ content: FACTS }));
    expect(await askTwice(connected(more))).toEqual([sent, sent]);
  });

  test('a long question asks for no longer an answer than most models write', async () => {
    server.setScript(() => message({ content: FACTS }));
    await connected().ask({ ...CALL, user: 'word '.repeat(20_000) }, NEVER);
    expect(limits()).toEqual([[32_000, undefined]]);
  });

  test('a question that has room for fewer tokens asks for no more', async () => {
    server.setScript(() => message({ content: FACTS }));
    await connected().ask({ ...CALL, answerMost: 70 }, NEVER);
    await connected({ maxOutputTokens: null }).ask({ ...CALL, answerMost: 70 }, NEVER);
    expect(limits()).toEqual([
      [70, undefined],
      [70, undefined],
    ]);
  });

  test('is said by the older name to servers that refuse the newer one, and not at all where both are refused', async () => {
    server.setScript(({ request }) => {
      const name = ['max_completion_tokens', 'max_tokens'].find((known) => known in request);
      return name === undefined
        ? message({ content: FACTS })
        : {
            status: 422,
            body: { detail: [{ loc: ['body', name], msg: 'Extra inputs are not permitted', input: 999 }] },
          };
    });
    expect(await askTwice()).toEqual([
      [most, undefined],
      [undefined, most],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test.each([
    [
      'OpenAI',
      'max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.',
      16_384,
    ],
    [
      'Anthropic',
      'max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022',
      8_192,
    ],
    [
      'Groq',
      '`max_completion_tokens` must be less than or equal to `8192`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model',
      8_192,
    ],
    ['DeepSeek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8_192],
    [
      'Gemini',
      'Unable to submit request because it has a maxOutputTokens value of 20000 but the supported range is from 1 (inclusive) to 8193 (exclusive).',
      8_193,
    ],
  ])('shrinks to what the model allows, in the words of %s', async (_name, words, allowed) => {
    server.setScript(({ request }) =>
      Number(request.max_completion_tokens) >= allowed ? refused(words) : message({ content: FACTS }),
    );
    const model = connected({ maxOutputTokens: 20_000 });
    expect((await askTwice(model)).map(([now]) => now)).toEqual([20_000, allowed - 1, allowed - 1]);
  });

  test.each([
    "This model's maximum context length is 4096 tokens. However, you requested 5800 tokens (1200 in the messages, 4600 in the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: 4600. This model's maximum context length is 4096 tokens and your request has 1200 input tokens (4600 > 4096 - 1200).",
  ])('is left open where the window has no room for a prompt and its limit: %s', async (words) => {
    server.setScript(({ request }) =>
      'max_completion_tokens' in request ? refused(words) : message({ content: FACTS }),
    );
    await askTwice();
    expect(limits()).toEqual([
      [most, undefined],
      [undefined, undefined],
      [most, undefined],
      [undefined, undefined],
    ]);
  });

  test('a prompt that has no room without it either is too long', async () => {
    server.setScript(() => refused("This model's maximum context length is 4096 tokens."));
    await expect(connected().ask(CALL, NEVER)).rejects.toMatchObject({ code: 'context_too_long' });
    expect(limits()).toEqual([
      [most, undefined],
      [undefined, undefined],
    ]);
  });
});
