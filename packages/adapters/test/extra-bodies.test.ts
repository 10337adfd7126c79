import type { ChatCall, ChatModel, Log } from '@slowwave/engine';
import { silentMeter } from '@slowwave/engine';
import { createMemoryLedger, fixedTools } from '@slowwave/engine-testing';
import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openChats, openEmbedder, openLimits, openReranker } from '../src/assemble/index.ts';
import { type Config, readStandaloneConfig } from '../src/config/index.ts';

const NEVER = new AbortController().signal;
const QUIET: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const CALL: ChatCall = { name: 'name_a_colour', system: 'name_a_colour', user: '{}', schema: { type: 'object' } };

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ dimensions: 16, script: () => ({ json: { colour: 'green' } }) });
});
afterAll(() => server.close());

const models = () => ({ log: QUIET, ledger: createMemoryLedger({ tools: fixedTools() }) });
const chats = (config: Config) => {
  const limits = openLimits(config, models(), { registry: new Registry(), meter: silentMeter });
  return openChats(config, { ...models(), limits });
};
const asked = (chat: ChatModel | null) => chat?.ask(CALL, NEVER);

/** How a model of each kind is asked, and what it was sent last. */
const KINDS = {
  CHAT: {
    ask: async (config: Config) => asked((await chats(config)).chat),
    sent: () => server.calls.at(-1)?.request,
  },
  IMAGE: {
    ask: async (config: Config) => asked((await chats(config)).imageModel),
    sent: () => server.calls.at(-1)?.request,
  },
  EMBEDDING: {
    ask: async (config: Config) =>
      (await openEmbedder(config, QUIET, { meter: silentMeter, models: models().ledger.models })).documents.embed(
        ['tea'],
        NEVER,
      ),
    sent: () => server.embeddingCalls.at(-1)?.request,
  },
  RERANK: {
    ask: async (config: Config) =>
      openReranker(config, { meter: silentMeter })?.rerank({ query: 'tea', documents: ['coffee', 'tea'] }, NEVER),
    sent: () => server.rerankCalls.at(-1)?.request,
  },
};

const read = (kind: string, extra: object): Config =>
  readStandaloneConfig(
    {
      OPENAI_BASE_URL: server.baseUrl,
      SLOWWAVE_CHAT_MODEL: 'chat',
      SLOWWAVE_IMAGE_MODEL: 'image',
      SLOWWAVE_EMBEDDING_MODEL: 'emb',
      SLOWWAVE_EMBEDDING_DIMENSIONS: '16',
      SLOWWAVE_RERANK_URL: `${server.baseUrl}/rerank`,
      [`SLOWWAVE_${kind}_EXTRA_BODY`]: JSON.stringify(extra),
    },
    {},
  );

test.each([
  ['CHAT', { temperature: 0.9, seed: 1 }],
  ['IMAGE', { temperature: 0.9, seed: 1 }],
  ['EMBEDDING', { dimensions: 8, keep_alive: '1h' }],
  ['RERANK', { top_n: 1, truncate: 'END' }],
] as const)('what an operator adds goes out over what is sent anyway: %s', async (kind, extra) => {
  const { ask, sent } = KINDS[kind];
  // Vectors of another length than the settings say are refused; what is sent for them is what matters here.
  await Promise.allSettled([ask(read(kind, extra))]);
  expect(sent()).toMatchObject(extra);
});

test.each([
  ['CHAT', 'messages'],
  ['CHAT', 'response_format'],
  ['IMAGE', 'stream'],
  ['EMBEDDING', 'model'],
  ['EMBEDDING', 'input'],
  ['EMBEDDING', 'encoding_format'],
  ['RERANK', 'documents'],
])('what is asked, and how the answer is read, is not for it to say: %s, %s', (kind, field) => {
  expect(() => read(kind, { [field]: 'x' })).toThrow(
    new RegExp(`SLOWWAVE_${kind}_EXTRA_BODY: must not set .*\\b${field}\\b`),
  );
});
