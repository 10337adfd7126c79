import { openReranker } from '@slowwave/adapters/assemble';
import { readStandaloneConfig } from '@slowwave/adapters/config';
import type { Reranker } from '@slowwave/engine';
import { recordingMeter } from '@slowwave/engine-testing';
import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const QUESTION = { query: 'where does she live', documents: ['she likes tea', 'where she does live: Rome'] };

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => server.setRerankScript(() => null));
afterAll(() => server.close());

function open(url = `${server.baseUrl}/rerank`, more: Readonly<Record<string, string>> = {}) {
  const meter = recordingMeter();
  const settings = {
    ...more,
    SLOWWAVE_RERANK_URL: url,
    SLOWWAVE_RERANK_MODEL: 'judge',
    SLOWWAVE_RERANK_API_KEY: 'secret-key',
  };
  const reranker = openReranker(readStandaloneConfig(settings, {}), { meter });
  const rank = (cancel = new AbortController().signal) => (reranker as Reranker).rerank(QUESTION, cancel);
  return { rank, meter };
}

test('the question goes out as Cohere and Jina have it, and scores come back', async () => {
  const { rank, meter } = open();
  const [best, other] = await rank();
  expect([best?.index, other?.index]).toEqual([1, 0]);
  expect(best?.score).toBeGreaterThan(other?.score ?? 1);
  expect(server.rerankCalls.at(-1)).toMatchObject({
    request: { model: 'judge', ...QUESTION, top_n: 2 },
    apiKey: 'secret-key',
  });
  expect(meter.recorded.calls).toMatchObject([{ kind: 'rerank', model: 'judge', failure: null }]);
});

test('what an operator adds goes out too', async () => {
  const more = {
    SLOWWAVE_RERANK_EXTRA_BODY: '{"truncate":"END"}',
    SLOWWAVE_RERANK_EXTRA_HEADERS: '{"authorization":"Bearer other-key"}',
  };
  await open(undefined, more).rank();
  expect(server.rerankCalls.at(-1)).toMatchObject({ request: { model: 'judge', truncate: 'END' } });
});

test.each([
  [429, 'model_overloaded'],
  [401, 'model_misconfigured'],
  [422, 'model_rejected'],
  [503, 'model_server_error'],
])('status %i is %s, without a word of the key or the address', async (status, code) => {
  server.setRerankScript(() => ({ status, body: { message: 'no' } }));
  const failure = await open()
    .rank()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code });
  expect(String(failure)).not.toMatch(/secret-key|127\.0\.0\.1/);
});

test.each([
  ['no list', { answer: 42 }],
  ['items without a place', { results: [{ relevance_score: 1 }] }],
])('%s is no answer', async (_name, body) => {
  server.setRerankScript(() => ({ status: 200, body }));
  await expect(open().rank()).rejects.toMatchObject({ code: 'model_server_error' });
});

test('places that were not sent, and second mentions, are left out', async () => {
  const results = [
    { index: 0, relevance_score: 0.2 },
    { index: 7, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.8 },
  ];
  server.setRerankScript(() => ({ status: 200, body: { results } }));
  expect(await open().rank()).toEqual([{ index: 0, score: 0.2 }]);
});

test('a server that is away, drops the line or never answers is told apart', async () => {
  await expect(open('http://127.0.0.1:1/v1/rerank').rank()).rejects.toMatchObject({ code: 'model_unreachable' });
  server.setRerankScript(() => ({ drop: true }));
  await expect(open().rank()).rejects.toMatchObject({ code: 'model_unreachable' });
  server.setRerankScript(() => ({ timeout: true }));
  const leaving = new AbortController();
  const waiting = open().rank(leaving.signal);
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
});

test('without an address there is none, and a key without an address is a mistake', () => {
  const { meter } = open();
  expect(openReranker(readStandaloneConfig({}, {}), { meter })).toBeNull();
  expect(() => readStandaloneConfig({ SLOWWAVE_RERANK_API_KEY: 'secret-key' }, {})).toThrow('SLOWWAVE_RERANK_URL');
});
