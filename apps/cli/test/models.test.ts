import {
  answers,
  type EmbeddingScript,
  echoExtractor,
  type ModelServer,
  refusal,
  type Script,
  startModelServer,
} from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from './slowwave.ts';

const works = answers({
  extract_facts: echoExtractor(),
  decide_operations: () => ({ operations: [] }),
  name_a_colour: () => ({ colour: 'blue' }),
});

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ script: works, apiKey: 'key-of-the-models' });
});
afterEach(() => server.close());

const check = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  program(['models', 'check', '--json', ...args], {
    OPENAI_BASE_URL: server.baseUrl,
    OPENAI_API_KEY: 'key-of-the-models',
    SLOWWAVE_CHAT_MODEL: 'm',
    SLOWWAVE_EMBEDDING_MODEL: 'e',
    ...env,
  });

describe('models check', () => {
  it('tries all there is and exits with 0 where it works', async () => {
    const { code, json } = await check();
    expect(json().trials.map(({ tried }: { tried: string }) => tried)).toEqual([
      ...['answer', 'json_schema', 'json_object', 'text', 'context window', 'extraction'],
      ...['embeddings', '64 texts', 'queries', 'similarity'],
    ]);
    expect(json().trials).toContainEqual(
      expect.objectContaining({ tried: 'extraction', came: expect.stringContaining('4 of 4 found') }),
    );
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

  const unknownModel: Script = () => refusal(404, { message: "model 'm' not found" });
  const noEmbeddings: EmbeddingScript = () => refusal(404, { message: 'not found' });
  interface Fault {
    readonly env?: Readonly<Record<string, string>>;
    readonly script?: Script;
    readonly embeddingScript?: EmbeddingScript;
    readonly remedy: RegExp;
  }
  it.each<[string, Fault]>([
    ['a wrong key', { env: { OPENAI_API_KEY: 'wrong-key-here' }, remedy: /correct OPENAI_API_KEY/ }],
    ['a wrong name', { script: unknownModel, remedy: /name of the model/ }],
    ['an embedder without /embeddings', { embeddingScript: noEmbeddings, remedy: /SLOWWAVE_EMBEDDING_BASE_URL/ }],
    ['no server', { env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, remedy: /check that the server is running/ }],
  ])('%s: says in one sentence what to do, and exits with 1', async (_fault, { env = {}, remedy, ...scripts }) => {
    if (scripts.script !== undefined) server.setScript(scripts.script);
    if (scripts.embeddingScript !== undefined) server.setEmbeddingScript(scripts.embeddingScript);
    const { code, json, out } = await check([], env);
    const failed = json().trials.filter(({ verdict }: { verdict: string }) => verdict === 'failed');
    expect(failed[0].advice).toMatch(remedy);
    expect(out).not.toContain('wrong-key-here');
    expect(code).toBe(1);
  });

  it.each([
    ['refused', () => refusal(400, { message: 'the maximum context length is 2048 tokens' })],
    [
      'cut in silence',
      () => ({ status: 200, body: { choices: [{ message: { content: '{}' } }], usage: { prompt_tokens: 900 } } }),
    ],
  ] as const)('a window that is too small, %s, is named with what makes it larger', async (_how, reply) => {
    const long = 6_000; // characters
    server.setScript((call) => (JSON.stringify(call.request).length > long ? reply() : works(call)));
    const { json } = await check(['--chat']);
    expect(json().trials).toContainEqual(
      expect.objectContaining({
        tried: 'context window',
        verdict: 'limited',
        advice: expect.stringContaining('num_ctx'),
      }),
    );
  });
});
