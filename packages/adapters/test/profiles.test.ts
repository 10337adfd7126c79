import {
  type ChatCall,
  type ChatModel,
  copyingName,
  type Embedder,
  EngineError,
  embedAll,
  estimateTokens,
  type ModelStore,
} from '@slowwave/engine';
import { createMemoryLedger, fixedTools, recordingLog } from '@slowwave/engine-testing';
import {
  delta,
  type EmbeddingScript,
  type ModelServer,
  type Reply,
  refusal,
  type Script,
  startModelServer,
} from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { knownModels } from '../src/assemble/index.ts';
import { readStandaloneConfig } from '../src/config/index.ts';
import type { EmbeddingManners } from '../src/openai/embedder.ts';
import { findingsIn, profiledChat, profiledEmbedder } from '../src/openai/index.ts';
import { knownProfile, profileName } from '../src/openai/profile.ts';

const CALL: ChatCall = {
  name: 'extract_facts',
  system: 'Find the facts.',
  user: 'The messages:\n{"messages":[]}',
  schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
};
const NEVER = new AbortController().signal;
const DAY_MS = 86_400_000;

/** Takes neither a schema nor a temperature. */
const plain: Script = ({ request }) => {
  if (request.temperature !== undefined) return refusal(400, { message: 'temperature is not supported' });
  const { type } = (request.response_format ?? {}) as { type?: string };
  if (type === 'json_schema') return refusal(400, { message: 'json_schema is not supported' });
  return { json: { facts: [] } };
};

let server: ModelServer;
let store: ModelStore;
const tools = fixedTools();
beforeEach(async () => {
  server = await startModelServer({ script: plain });
  store = createMemoryLedger({ tools }).models;
});
afterEach(() => server.close());

const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const options = (more: object = {}) => ({
  apiKey: 'sk-secret-1',
  baseUrl: server.baseUrl,
  model: 'm',
  timeoutMs: 5_000,
  ...more,
});
/** A model as a process that starts now has it. */
const started = (more: object = {}): ChatModel =>
  profiledChat({ ...options(more), log: QUIET }, { store, now: tools.now });
const known = (more: object = {}) => knownProfile(profileName('chat', options(more)), { store, now: tools.now });
const callsOf = async (chat: ChatModel, call = CALL): Promise<number> => {
  const before = server.calls.length;
  await chat.ask(call, NEVER).catch(() => {});
  return server.calls.length - before;
};

describe('what a server does not take', () => {
  test('is found out once, for this process, the next ones, and those with another key', async () => {
    expect(await callsOf(started())).toBe(3);
    await expect
      .poll(() => known())
      .toMatchObject({ takes: { manners: { format: 'json_object', temperature: false } } });
    expect(await callsOf(started())).toBe(1);
    expect(await callsOf(started({ apiKey: 'sk-2', timeoutMs: 9_000 }))).toBe(1);
  });

  test('is found out anew for another model, and after a week', async () => {
    await callsOf(started());
    await expect.poll(() => known()).toMatchObject({ takes: { manners: { temperature: false } } });
    expect(await callsOf(started({ model: 'other' }))).toBe(3);
    tools.advance(6 * DAY_MS);
    expect(await callsOf(started())).toBe(1);
    tools.advance(2 * DAY_MS);
    expect(await callsOf(started())).toBe(3);
  });

  test('is found out as before where the ledger does not answer', async () => {
    const away = async () => Promise.reject(new Error('no ledger'));
    store = { get: away, swap: away, put: away };
    const chat = started();
    expect(await callsOf(chat)).toBe(3);
    expect(await callsOf(chat)).toBe(1);
  });
});

test('that a chat model copies examples is shown once it is asked without', async () => {
  const config = readStandaloneConfig({}, { OPENAI_BASE_URL: server.baseUrl, SLOWWAVE_CHAT_MODEL: 'm' });
  const shown = async () => (await knownModels(config, { models: store })).flatMap(({ findings }) => findings);
  await store.put(copyingName('m'), { at: Date.now(), batches: 2 });
  expect(await shown()).toEqual([]);
  await store.put(copyingName('m'), { at: Date.now(), batches: 3 });
  expect(await shown()).toMatchObject([{ property: 'examples', what: expect.stringContaining('without examples') }]);
  await store.put(copyingName('m'), { at: Date.now() - 8 * DAY_MS, batches: 3 });
  expect(await shown()).toEqual([]);
});

describe('where a model thinks', () => {
  const FACTS = '{"facts":[]}';
  const inOnePiece = (fields: object): Reply => ({ status: 200, body: { choices: [{ message: fields }] } });
  const streamed = (fields: object): Reply => ({ events: [delta(fields), delta({}, 'stop')] });
  const thoughts = async (more: object = {}) =>
    findingsIn(await known(more)).find(({ property }) => property === 'thoughts')?.what;

  test.each([
    ['reasoning_content', { reasoning_content: 'Hm.', content: FACTS }, 'in reasoning_content'],
    ['reasoning', { reasoning: 'Hm.', content: FACTS }, 'in reasoning'],
    ['thinking', { thinking: 'Hm.', content: FACTS }, 'in thinking'],
    ['tags', { content: `<think>Hm.</think>${FACTS}` }, 'between <think> tags in the text of the answer'],
    ['a tag that was opened in the prompt', { content: `Hm.</think>${FACTS}` }, 'between <think> tags'],
  ])('is found out from %s, streamed or not', async (_name, fields, place) => {
    server.setScript(() => inOnePiece(fields));
    await callsOf(started());
    await expect.poll(() => thoughts()).toContain(place);
    server.setScript(() => streamed(fields));
    await callsOf(started({ stream: 'on' }));
    await expect.poll(() => thoughts({ stream: 'on' })).toContain(place);
  });

  test('is not said of one that does not think, whatever its answer speaks of', async () => {
    const said = '{"facts":[{"text":"User writes </think> at the end"}]}';
    server.setScript(() => inOnePiece({ content: said, reasoning_content: '', reasoning: null }));
    await callsOf(started());
    await expect.poll(() => known()).toMatchObject({ last: { problem: null } });
    expect(await thoughts()).toBeUndefined();
  });

  test('is forgotten a week after it thought the last time', async () => {
    server.setScript(() => inOnePiece({ reasoning: 'Hm.', content: FACTS }));
    await callsOf(started());
    await expect.poll(() => thoughts()).toContain('in reasoning');
    tools.advance(6 * DAY_MS);
    expect(await thoughts()).toContain('in reasoning');
    tools.advance(2 * DAY_MS);
    expect(await thoughts()).toBeUndefined();
  });
});

/** Takes no base64, no dimensions, three texts at a time and none of more than 512 tokens. */
const narrow: EmbeddingScript = ({ texts, request }) => {
  if (request.dimensions !== undefined) return refusal(400, { message: 'dimensions are not supported' });
  if (request.encoding_format === 'base64') return refusal(400, { message: 'encoding_format must be float' });
  if (texts.length > 3) return refusal(422, { message: 'batch size > maximum allowed batch size 3' });
  const isTooLong = texts.some((text) => estimateTokens(text) > 512);
  return isTooLong ? refusal(400, { message: "This model's maximum context length is 512 tokens" }) : null;
};

describe('what an embedding server does not take', () => {
  const TEXTS = [...Array.from({ length: 7 }, (_, i) => `text ${i}`), 'I like figs. '.repeat(400)];
  const embedder = (more: object = {}): Promise<Embedder> =>
    profiledEmbedder({ ...options(), dimensions: 16, log: QUIET, ...more }, { store, now: tools.now });
  const knownOf = () => knownProfile(profileName('embedding', options({ dimensions: 16 })), { store, now: tools.now });
  /** How many requests were refused while a process that starts now embedded the texts. */
  const refusedOf = async (more: object = {}): Promise<number> => {
    const before = server.embeddingCalls.length;
    const vectors = await embedAll(await embedder(more), TEXTS, NEVER);
    expect(vectors.map((vector) => vector?.length)).toEqual(TEXTS.map(() => 16));
    return server.embeddingCalls.slice(before).filter((call) => narrow(call) !== null).length;
  };
  const isKept = () =>
    expect
      .poll(async () => (await knownOf()).embeds?.manners)
      .toSatisfy((kept?: EmbeddingManners) => kept !== undefined && kept.texts <= 3 && kept.longest < 512);
  beforeEach(async () => {
    await server.close();
    server = await startModelServer({ dimensions: 16 });
    server.setEmbeddingScript(narrow);
  });

  test('is found out once, for this process and the next ones', async () => {
    expect(await refusedOf()).toBeGreaterThan(4);
    await isKept();
    expect(await refusedOf()).toBe(0);
    expect(await refusedOf({ apiKey: 'sk-2', timeoutMs: 9_000 })).toBe(0);
  });

  test('is found out anew for another model, for other dimensions, and after a week', async () => {
    await refusedOf();
    await isKept();
    expect(await refusedOf({ model: 'other' })).toBeGreaterThan(4);
    expect(await refusedOf({ dimensions: null })).toBeGreaterThan(3);
    tools.advance(6 * DAY_MS);
    expect(await refusedOf()).toBe(0);
    tools.advance(2 * DAY_MS);
    expect(await refusedOf()).toBeGreaterThan(4);
  });

  test('cuts no text that is shorter than those that were too long', async () => {
    await refusedOf();
    await isKept();
    const { longest = 0 } = (await knownOf()).embeds?.manners ?? {};
    const text = 'I like figs. '.repeat(120);
    expect(estimateTokens(text)).toBeGreaterThan(longest);
    await (await embedder()).embed([text], NEVER);
    expect(server.embeddingCalls.at(-1)?.texts).toEqual([text]);
  });

  test('is shown with how its last call ended', async () => {
    await refusedOf();
    await expect.poll(knownOf).toMatchObject({ last: { problem: null } });
    expect(findingsIn(await knownOf()).map(({ what }) => what)).toEqual([
      'does not accept dimensions, so its vectors have the length that the model gives them',
      'does not accept base64, so vectors are sent as numbers',
      expect.stringMatching(/^takes [1-3] texts in a request and refused more$/),
      expect.stringMatching(/^refused a text of about \d+ tokens, so only the first \d+ of such texts are embedded$/),
    ]);
    server.setEmbeddingScript(() => refusal(404, { message: 'not found' }));
    await expect((await embedder()).embed(['tea'], NEVER)).rejects.toThrow(EngineError);
    await expect.poll(knownOf).toMatchObject({ last: { problem: { code: 'model_misconfigured' } } });
    expect((await knownOf()).last?.problem?.message).toContain('SLOWWAVE_EMBEDDING_BASE_URL');
  });
});

describe('how a model is doing', () => {
  test('is written down with what to do, and no longer once it answers', async () => {
    server.setScript(() =>
      refusal(401, { message: 'Incorrect API key provided: sk-secret-1.', code: 'invalid_api_key' }),
    );
    const chat = started();
    await callsOf(chat);
    await expect.poll(() => known()).toMatchObject({ last: { problem: { code: 'model_misconfigured' } } });
    const { message } = (await known()).last?.problem ?? { message: '' };
    expect(message).toContain('correct OPENAI_API_KEY');
    expect(message).not.toContain('sk-secret-1');
    server.setScript(plain);
    await callsOf(chat);
    await expect.poll(() => known()).toMatchObject({ last: { problem: null } });
  });

  test('is logged where somebody has to mend it, once and not with each call', async () => {
    const log = recordingLog();
    const warnings = () => log.lines.flatMap(({ level, fields }) => (level === 'warn' ? [fields] : []));
    const chat = profiledChat({ ...options(), log }, { store, now: tools.now });
    server.setScript(() => refusal(404, { message: "model 'm' not found" }));
    for (let i = 0; i < 3; i += 1) await callsOf(chat);
    expect(warnings()).toEqual([
      expect.objectContaining({ error: expect.stringContaining('; correct the name of the model') }),
    ]);
    tools.advance(600_000);
    await callsOf(chat);
    expect(warnings()).toHaveLength(2);
  });

  test('says nothing of what was asked: an input that is refused is not the fault of the model', async () => {
    const chat = started();
    await callsOf(chat);
    await expect.poll(() => known()).toMatchObject({ last: { problem: null } });
    server.setScript(() => refusal(400, { message: 'this content is against our content policy' }));
    await expect(chat.ask(CALL, NEVER)).rejects.toThrow(EngineError);
    tools.advance(DAY_MS);
    expect(await known()).toMatchObject({ last: { problem: null } });
  });

  test('is not written with every call', async () => {
    const chat = started();
    await callsOf(chat);
    await expect.poll(() => known()).toMatchObject({ last: { problem: null } });
    const { at } = (await known()).last ?? {};
    tools.advance(60_000);
    await callsOf(chat);
    expect((await known()).last?.at).toBe(at);
    tools.advance(600_000);
    await callsOf(chat);
    await expect.poll(async () => (await known()).last?.at).toBe(tools.now());
  });

  test.each([
    ['refused', () => refusal(400, { message: 'the maximum context length is 2048 tokens' }), 'room'],
    [
      'cut',
      () => ({ status: 200, body: { choices: [{ message: { content: '{}' } }], usage: { prompt_tokens: 50 } } }),
      'cut',
    ],
  ] as const)('shows a prompt that was %s for its length', async (_how, reply, part) => {
    server.setScript(reply);
    await callsOf(started(), { ...CALL, user: `Find.\n{"said":"${'I like figs. '.repeat(900)}"}` });
    await expect.poll(async () => (await known())[part]).toBeDefined();
  });
});
