import type { Log } from '@slowwave/engine';
import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observe, openEmbedder } from '../src/assemble/index.ts';
import { readStandaloneConfig } from '../src/config/index.ts';

const NEVER = new AbortController().signal;
const QUIET: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ dimensions: 16 });
});
afterEach(() => server.close());

async function opened(settings: Readonly<Record<string, string>>) {
  const model = { SLOWWAVE_EMBEDDING_MODEL: 'emb', SLOWWAVE_EMBEDDING_DIMENSIONS: '16' };
  const config = readStandaloneConfig({ OPENAI_BASE_URL: server.baseUrl, ...model, ...settings }, {});
  return openEmbedder(config, QUIET, {
    ...observe(config, { log: QUIET, service: 'test' }),
    models: null,
  });
}

const QUERY = { SLOWWAVE_EMBEDDING_QUERY_PREFIX: 'query: ' };
const DOCUMENT = { SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX: 'passage: ' };

test('a model of a server reads the prefixes that are set, each where it belongs', async () => {
  const { queries, documents } = await opened({ ...QUERY, ...DOCUMENT });
  await queries.embed(['where does she live?'], NEVER);
  await documents.embed(['User lives in Oslo', 'User has a cat'], NEVER);
  expect(server.embeddingCalls.map(({ texts }) => texts)).toEqual([
    ['query: where does she live?'],
    ['passage: User lives in Oslo', 'passage: User has a cat'],
  ]);
});

test('without prefixes texts and fingerprint are as they were before there were any', async () => {
  const { queries, documents } = await opened({});
  await queries.embed(['tea'], NEVER);
  expect(server.embeddingCalls.map(({ texts }) => texts)).toEqual([['tea']]);
  expect(documents.fingerprint).toBe('openai:emb:16');
});

test('a model of a well-known family reads the prefixes it was trained with, and those that are set instead', async () => {
  const nomic = { SLOWWAVE_EMBEDDING_MODEL: 'nomic-embed-text' };
  const { queries, documents } = await opened(nomic);
  await queries.embed(['tea'], NEVER);
  await documents.embed(['tea'], NEVER);
  const own = await opened({ ...nomic, ...QUERY, SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX: 'none' });
  await own.queries.embed(['tea'], NEVER);
  await own.documents.embed(['tea'], NEVER);
  expect(server.embeddingCalls.flatMap(({ texts }) => texts)).toEqual([
    ...['search_query: tea', 'search_document: tea'],
    ...['query: tea', 'tea'],
  ]);
});

test('a server of its own gets the embedding requests, with its own key, headers and body', async () => {
  const own = await startModelServer({ dimensions: 16, apiKey: 'own' });
  try {
    const settings = {
      SLOWWAVE_EMBEDDING_BASE_URL: own.baseUrl,
      SLOWWAVE_EMBEDDING_API_KEY: 'own',
      SLOWWAVE_EMBEDDING_EXTRA_BODY: '{"keep_alive":"1h"}',
    };
    const { documents } = await opened({ OPENAI_API_KEY: 'chat', ...settings });
    await documents.embed(['tea'], NEVER);
    expect(own.embeddingCalls[0]?.request).toMatchObject({ keep_alive: '1h', model: 'emb', input: ['tea'] });
    expect(server.embeddingCalls).toEqual([]);
    const others = await opened({ ...settings, SLOWWAVE_EMBEDDING_EXTRA_BODY: '{}' });
    expect(others.documents.fingerprint).toBe('openai:emb:16');
    expect(documents.fingerprint).not.toBe(others.documents.fingerprint);
    const header = { authorization: 'Bearer own' };
    const byHeader = await opened({
      ...settings,
      SLOWWAVE_EMBEDDING_API_KEY: 'wrong',
      SLOWWAVE_EMBEDDING_EXTRA_HEADERS: JSON.stringify(header),
    });
    expect((await byHeader.documents.embed(['tea'], NEVER)).vectors).toHaveLength(1);
  } finally {
    await own.close();
  }
});

test('the key of the chat model is sent to no other server, and a wrong key names the setting to correct', async () => {
  const own = await startModelServer({ dimensions: 16, apiKey: 'chat' });
  try {
    const { documents } = await opened({ OPENAI_API_KEY: 'chat', SLOWWAVE_EMBEDDING_BASE_URL: own.baseUrl });
    await expect(documents.embed(['tea'], NEVER)).rejects.toThrow(
      /status 401 .*no key was sent, so set SLOWWAVE_EMBEDDING_API_KEY/,
    );
    expect(own.embeddingCalls).toEqual([]);
  } finally {
    await own.close();
  }
});

test('a server without embeddings is said to be one, with what to do', async () => {
  server.setEmbeddingScript(() => ({ status: 404, body: 'Not Found' }));
  const { documents } = await opened({});
  await expect(documents.embed(['tea'], NEVER)).rejects.toThrow(
    /^expected embeddings from .* \(model emb\), got status 404 and "Not Found"; .*SLOWWAVE_EMBEDDING_BASE_URL .*SLOWWAVE_EMBEDDING_MODEL=local$/,
  );
});

test('questions and texts share a fingerprint, and other prefixes have another', async () => {
  const all = await Promise.all([{}, QUERY, DOCUMENT, { ...QUERY, ...DOCUMENT }].map(opened));
  for (const { queries, documents } of all) expect(queries.fingerprint).toBe(documents.fingerprint);
  expect(new Set(all.map(({ documents }) => documents.fingerprint)).size).toBe(4);
});
