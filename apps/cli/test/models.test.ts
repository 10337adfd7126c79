import {
  answers,
  delta,
  type EmbeddingScript,
  echoExtractor,
  freePort,
  type HttpReply,
  type ModelServer,
  refusal,
  type Script,
  type ScriptedCall,
  startModelServer,
  tempDir,
} from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer } from './server.ts';
import { program, slowwave } from './slowwave.ts';

const works = answers({
  extract_facts: echoExtractor(),
  decide_operations: () => ({ operations: [] }),
  count: () => ({ numbers: [1, 2, 3] }),
  count_minutes: () => ({ minutes: 85 }),
});

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ script: works, apiKey: 'key-of-the-models' });
});
afterEach(() => server.close());

const settings = () => ({
  OPENAI_BASE_URL: server.baseUrl,
  OPENAI_API_KEY: 'key-of-the-models',
  SLOWWAVE_CHAT_MODEL: 'm',
});
/** However slow this machine is, there is time for all; models-in-time.test.ts is about the time. */
const CHECK = ['models', 'check', '--minutes', '60'];
const check = (args: readonly string[] = []) =>
  slowwave([...CHECK, '--json', ...args], { ...settings(), SLOWWAVE_EMBEDDING_MODEL: 'e' });

describe('models check', () => {
  it('tries all there is and exits with 0 where it works', async () => {
    const { code, json } = await program([...CHECK, '--json'], { ...settings(), SLOWWAVE_EMBEDDING_MODEL: 'e' });
    expect(json().trials.map(({ tried }: { tried: string }) => tried)).toEqual([
      ...['answer', 'json_schema', 'thinking', 'output limit', 'context window', 'extraction'],
      ...['embeddings', '64 texts', 'queries', 'a long text', 'similarity', 'requests'],
    ]);
    expect(json().trials).toContainEqual(
      expect.objectContaining({ tried: 'extraction', came: expect.stringContaining('4 of 4 found') }),
    );
    expect(code).toBe(0);
  });

  it('tries the models of steps and the fallbacks too, each once', async () => {
    const others = {
      SLOWWAVE_DECIDE_MODEL: 'careful',
      SLOWWAVE_SUMMARY_MODEL: 'careful',
      SLOWWAVE_CHAT_FALLBACK: 'spare',
    };
    const { code, json } = await program([...CHECK, '--json', '--chat'], { ...settings(), ...others });
    const answered = json().trials.filter(({ tried }: { tried: string }) => tried === 'answer');
    expect(answered.map(({ model }: { model: string }) => model).sort()).toEqual(['careful', 'm', 'spare']);
    expect(code).toBe(0);
  });

  it('tells which form a server refuses, and asks for the next one', async () => {
    await server.close();
    server = await startModelServer({ script: works, structuredOutput: 'unsupported', apiKey: 'key-of-the-models' });
    const { code, json } = await check(['--chat']);
    expect(json().trials).toContainEqual(
      expect.objectContaining({
        tried: 'json_schema',
        verdict: 'limited',
        advice: expect.stringContaining('json_object'),
      }),
    );
    expect(code).toBe(0);
  });
});

const written = (json: object, completion_tokens: number): HttpReply => ({
  status: 200,
  body: {
    choices: [{ message: { content: JSON.stringify(json) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 50, completion_tokens },
  },
});

describe('models check --chat', () => {
  it.each<[string, Script, object]>([
    [
      'an output limit that is ignored',
      (call) => (call.name === 'count' ? written({ numbers: [] }, 900) : works(call)),
      {
        tried: 'output limit',
        verdict: 'limited',
        came: 'wrote 900 tokens at a limit of 32',
        advice: expect.stringContaining('SLOWWAVE_CHAT_EXTRA_BODY, such as {"max_tokens": 8000}'),
      },
    ],
    [
      'a limit by another name, and the most that it may be',
      (call) => {
        const { max_completion_tokens: unknown, max_tokens: asked = 0 } = call.request;
        if (unknown !== undefined) return refusal(400, { message: 'Unrecognized argument: max_completion_tokens' });
        return Number(asked) > 8_192 ? refusal(400, { message: 'max_tokens must be at most 8192' }) : works(call);
      },
      { tried: 'output limit', verdict: 'ok', came: 'max_tokens is respected, up to 8191 tokens' },
    ],
    [
      'a limit that is refused',
      (call) =>
        'max_completion_tokens' in call.request || 'max_tokens' in call.request
          ? refusal(400, { message: 'unknown field max_tokens' })
          : works(call),
      {
        tried: 'output limit',
        verdict: 'limited',
        came: 'refused',
        advice: expect.stringContaining('set a limit at its server'),
      },
    ],
    [
      'a model that thinks',
      (call) => (call.name === 'count_minutes' ? written({ minutes: 85 }, 700) : works(call)),
      {
        tried: 'thinking',
        verdict: 'limited',
        came: expect.stringMatching(/^reasoned for about 69\d tokens/),
        advice: expect.stringContaining('SLOWWAVE_CHAT_EXTRA_BODY'),
      },
    ],
  ])('shows %s', async (_name, script, trial) => {
    server.setScript(script);
    const { code, json } = await check(['--chat']);
    expect(json().trials).toContainEqual(expect.objectContaining(trial));
    expect(code).toBe(0);
  });
});

/** What is wrong, and the one sentence that is said of it everywhere. */
interface Fault {
  readonly env?: Readonly<Record<string, string>>;
  readonly script?: Script;
  readonly embeddingScript?: EmbeddingScript;
  readonly sentence: RegExp;
  /** status and the log are asked as well; of the others only ./scripts/prove model-faults starts a server. */
  readonly onServer?: true;
}
// biome-ignore lint/style/noProcessEnv: a server for each takes its time
const ALL_ON_SERVERS = process.env.MODEL_FAULTS_ON_SERVERS === '1';
const SHORT = 6_000; // characters
const isLong = ({ request }: ScriptedCall): boolean => JSON.stringify(request).length > SHORT;
const cutAnswer = { status: 200, body: { choices: [{ message: { content: '{}' } }], usage: { prompt_tokens: 900 } } };
const NO_ROOM = { message: 'the maximum context length is 2048 tokens' };
const MORE_ROOM = String.raw`; give it a context window of 16,384 tokens \(Ollama: num_ctx; .*\), or lower SLOWWAVE_PART_TOKENS`;

const FAULTS: readonly (readonly [string, Fault])[] = [
  [
    'a wrong key',
    {
      onServer: true,
      env: { OPENAI_API_KEY: 'wrong-key-here' },
      sentence: /got status 401 and \\?"Incorrect API key provided\.\\?"; correct OPENAI_API_KEY or its permissions/,
    },
  ],
  [
    'no key',
    {
      env: { OPENAI_API_KEY: '' },
      sentence:
        /got status 401 and \\?"Incorrect API key provided\.\\?"; no key was sent, so set OPENAI_API_KEY; until/,
    },
  ],
  [
    'a wrong name',
    {
      script: () => refusal(404, { message: "model 'm' not found" }),
      sentence: /got status 404 and \\?"model 'm' not found\\?"; correct SLOWWAVE_CHAT_MODEL; until/,
    },
  ],
  [
    'no server',
    {
      env: { OPENAI_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` },
      sentence: /got no connection .*; check that the server is running and OPENAI_BASE_URL is correct/,
    },
  ],
  [
    'a model that hangs while it writes',
    {
      env: { SLOWWAVE_CHAT_IDLE_TIMEOUT_MS: '500' },
      script: () => ({ events: [delta({ content: '{"there"' })], end: 'silent' }),
      sentence:
        /to continue its answer within 500 ms, got nothing more after about 2 tokens; .* needs a longer SLOWWAVE_CHAT_IDLE_TIMEOUT_MS/,
    },
  ],
  [
    'a window that is too small',
    {
      script: (call) => (isLong(call) ? refusal(400, NO_ROOM) : works(call)),
      sentence: new RegExp(`refused a prompt .*${MORE_ROOM}`),
    },
  ],
  [
    'a window that cuts prompts in silence',
    {
      onServer: true,
      script: (call) => (isLong(call) ? cutAnswer : works(call)),
      sentence: new RegExp(`(?:without saying so|silently truncate prompts).*${MORE_ROOM}`),
    },
  ],
  [
    'an embedder without /embeddings',
    {
      onServer: true,
      env: { SLOWWAVE_EMBEDDING_MODEL: 'e', SLOWWAVE_EMBEDDING_DIMENSIONS: '16' },
      embeddingScript: () => refusal(404, { message: 'not found' }),
      sentence:
        /got status 404 and \\?"not found\\?"; correct SLOWWAVE_EMBEDDING_MODEL, or, if this server has no embeddings, set SLOWWAVE_EMBEDDING_BASE_URL to one that has, or SLOWWAVE_EMBEDDING_MODEL=local/,
    },
  ],
];

it('a server that refuses to stream is asked without, which models check says', async () => {
  server.setScript((call) => {
    if (call.request.stream === undefined) return works(call);
    return refusal(400, { message: 'Streaming is not supported', param: 'stream' });
  });
  const { json } = await check(['--chat']);
  expect(json().trials[0]).toMatchObject({
    tried: 'answer',
    verdict: 'ok',
    came: expect.stringMatching(/refuses streaming.*called without/),
  });
});

function failing({ script = works, embeddingScript = () => null, env = {} }: Fault): Record<string, string> {
  server.setScript(script);
  server.setEmbeddingScript(embeddingScript);
  return { ...settings(), SLOWWAVE_EMBEDDING_MODEL: 'builtin', ...env };
}

it.each(FAULTS)('%s is named by models check, with what to do', async (_name, fault) => {
  const { code, out } = await slowwave(CHECK, failing(fault));
  expect(out).toMatch(fault.sentence);
  expect(out).not.toContain('wrong-key-here');
  expect(code).toBe(1);
});

it.each(FAULTS.filter(([, { onServer }]) => onServer || ALL_ON_SERVERS))(
  '%s is named by status and in the log, with what to do',
  async (_name, fault) => {
    const folder = await tempDir();
    const running = await startServer(folder.path, failing(fault));
    const status = async () => (await slowwave(['status', '--server', running.url])).out;
    try {
      await running.post('ann', 'I like the harbour. '.repeat(400));
      await expect.poll(status, POLL).toMatch(fault.sentence);
      await expect.poll(() => warningsIn(running.output()), POLL).toContainEqual(expect.stringMatching(fault.sentence));
      expect(running.output() + (await status())).not.toContain('wrong-key-here');
    } finally {
      await running.stop();
      await folder.remove();
    }
  },
);

const POLL = { timeout: 60_000, interval: 500 };

/** Each with its message, and the error that it is about. */
const warningsIn = (output: string): readonly string[] =>
  output.split('\n').filter((line) => line.startsWith('{"level":"warn"'));

describe('models calibrate', () => {
  const calibrate = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    slowwave(['models', 'calibrate', ...args], { ...settings(), SLOWWAVE_EMBEDDING_MODEL: 'e', ...env });

  it('says how near the model puts texts in each language, and what follows from it', async () => {
    const { code, json } = await calibrate(['--json']);
    expect(code).toBe(0);
    const { languages, near, vectors } = json();
    expect(languages.map(({ language }: { language: string }) => language)).toContain('Japanese');
    expect(near).toBeLessThanOrEqual(1);
    expect(vectors.words).toBeGreaterThanOrEqual(0.6);
    expect(vectors.words).toBeLessThanOrEqual(0.8);
    expect(server.embeddingCalls.flatMap(({ texts }) => texts)).toContain('User keeps bees behind the garage');
  });

  it('prints a table, and says that the builtin vectors are not calibrated', async () => {
    const { out } = await calibrate([], { SLOWWAVE_EMBEDDING_MODEL: 'builtin' });
    expect(out).toMatch(/^language .* the answer/m);
    expect(out).toMatch(/^English +(?:yes|no), \d\.\d\d /m);
    expect(out).toContain('fixed values for the builtin vectors');
  });
});
