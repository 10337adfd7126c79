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
  return openEmbedder(config, QUIET, observe(config, { log: QUIET, service: 'test' }));
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

test('questions and texts share a fingerprint, and other prefixes have another', async () => {
  const all = await Promise.all([{}, QUERY, DOCUMENT, { ...QUERY, ...DOCUMENT }].map(opened));
  for (const { queries, documents } of all) expect(queries.fingerprint).toBe(documents.fingerprint);
  expect(new Set(all.map(({ documents }) => documents.fingerprint)).size).toBe(4);
});
