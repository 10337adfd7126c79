import { type ChatCall, type ChatModel, EngineError, type ModelStore } from '@slowwave/engine';
import { createMemoryLedger, fixedTools } from '@slowwave/engine-testing';
import { type ModelServer, refusal, type Script, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { profiledChat } from '../src/openai/index.ts';
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
const known = () => knownProfile(profileName('chat', options()), { store, now: tools.now });
const callsOf = async (chat: ChatModel, call = CALL): Promise<number> => {
  const before = server.calls.length;
  await chat.ask(call, NEVER).catch(() => {});
  return server.calls.length - before;
};

describe('what a server does not take', () => {
  test('is found out once, for this process, the next ones, and those with another key', async () => {
    expect(await callsOf(started())).toBe(3);
    await expect.poll(known).toMatchObject({ takes: { manners: { format: 'json_object', temperature: false } } });
    expect(await callsOf(started())).toBe(1);
    expect(await callsOf(started({ apiKey: 'sk-2', timeoutMs: 9_000 }))).toBe(1);
  });

  test('is found out anew for another model, and after a week', async () => {
    await callsOf(started());
    await expect.poll(known).toMatchObject({ takes: { manners: { temperature: false } } });
    expect(await callsOf(started({ model: 'other' }))).toBe(3);
    tools.advance(6 * DAY_MS);
    expect(await callsOf(started())).toBe(1);
    tools.advance(2 * DAY_MS);
    expect(await callsOf(started())).toBe(3);
  });

  test('is found out as before where the ledger does not answer', async () => {
    const away = async () => Promise.reject(new Error('no ledger'));
    store = { get: away, put: away };
    const chat = started();
    expect(await callsOf(chat)).toBe(3);
    expect(await callsOf(chat)).toBe(1);
  });
});

describe('how a model is doing', () => {
  test('is written down with what to do, and no longer once it answers', async () => {
    server.setScript(() =>
      refusal(401, { message: 'Incorrect API key provided: sk-secret-1.', code: 'invalid_api_key' }),
    );
    const chat = started();
    await callsOf(chat);
    await expect.poll(known).toMatchObject({ last: { problem: { code: 'model_misconfigured' } } });
    const { message } = (await known()).last?.problem ?? { message: '' };
    expect(message).toContain('correct OPENAI_API_KEY');
    expect(message).not.toContain('sk-secret-1');
    server.setScript(plain);
    await callsOf(chat);
    await expect.poll(known).toMatchObject({ last: { problem: null } });
  });

  test('says nothing of what was asked: an input that is refused is not the fault of the model', async () => {
    const chat = started();
    await callsOf(chat);
    await expect.poll(known).toMatchObject({ last: { problem: null } });
    server.setScript(() => refusal(400, { message: 'this content is against our content policy' }));
    await expect(chat.ask(CALL, NEVER)).rejects.toThrow(EngineError);
    tools.advance(DAY_MS);
    expect(await known()).toMatchObject({ last: { problem: null } });
  });

  test('is not written with every call', async () => {
    const chat = started();
    await callsOf(chat);
    await expect.poll(known).toMatchObject({ last: { problem: null } });
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
