import { answers, type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done, get, post } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const CITIES = ['Berlin', 'Lisbon', 'Oslo'];

let setup: Setup;
let model: ModelServer;
beforeAll(async () => {
  const script = answers({
    recall_step: ({ memories }: { memories: { id: string; text: string }[] }) => ({
      answer: 'Lisbon, too.',
      cites: memories.filter(({ text }) => text.includes('Lisbon')).map(({ id }) => id),
    }),
    rerank_memories: ({ memories }: { memories: { id: string; text: string }[] }) => ({
      ranking: memories.filter(({ text }) => text.includes('Oslo')).map(({ id }) => ({ id, relevance: 1 })),
    }),
  });
  model = await startModelServer({ script });
  setup = await standalone({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_RERANK_URL: `${model.baseUrl}/rerank` });
  for (const city of CITIES)
    await done(post(`${setup.console}/v1/memories`, { memory: `Ann was in ${city}`, user_id: 'ann' }));
});
afterAll(async () => {
  await setup.close();
  await model.close();
});

const ask = async (more: object = {}) =>
  (await post(`${setup.search}/v1/search`, { query: 'Which city was Ann in?', user_id: 'ann', cut: 'none', ...more }))
    .body;

test('a question is embedded once, however often it is asked', async () => {
  const before = model.embeddingCalls.length;
  for (let i = 0; i < 3; i += 1) await ask({ query: 'where was she?' });
  expect(model.embeddingCalls.length).toBe(before + 1);
  const metrics = (await get(`${setup.search}/metrics`)).body;
  expect(metrics).toMatch(/slowwave_query_vectors_total\{source="memory"\} [2-9]/);
});

test('results are put in order by the endpoint, or by the chat model', async () => {
  model.setRerankScript(({ documents }) => ({
    status: 200,
    body: { results: [{ index: documents.findIndex((text) => text.includes('Lisbon')), relevance_score: 0.9 }] },
  }));
  expect((await ask({ rerank: true })).results[0]).toMatchObject({ memory: 'Ann was in Lisbon', rerank_score: 0.9 });
  expect((await ask({ rerank: 'model' })).results[0]).toMatchObject({ memory: 'Ann was in Oslo', rerank_score: 1 });
});

test('a model that is slow is left out in time, and what was asked of it is ended', async () => {
  await ask({ query: 'warm' });
  model.setEmbeddingScript(() => ({ timeout: true }));
  // Enough for the words on a busy machine.
  const answer = await ask({ query: 'in which city was Ann lately?', timeout_ms: 1_500 });
  model.setEmbeddingScript(() => null);
  expect(answer.results).toHaveLength(3);
  expect(answer.degraded[0]).toContain('vector search');
});

test('an answer cites what it rests on, and its calls are counted', async () => {
  const before = (await get(`${setup.search}/v1/stats`)).body.usage.calls;
  const { body } = await post(`${setup.search}/v1/recall`, { query: 'Where else was Ann?', user_id: 'ann' });
  expect(body).toMatchObject({
    answer: 'Lisbon, too.',
    citations: [{ memory: 'Ann was in Lisbon' }],
    usage: { calls: 1 },
  });
  expect((await get(`${setup.search}/v1/stats`)).body.usage.calls).toBe(before + 1);
});
