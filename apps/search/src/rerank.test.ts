import { EngineError, type Reranker, silentMeter } from '@slowwave/engine';
import { fakeChat, ONE_CHAT } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const question = { query: 'where has Ann been', user_id: 'ann' };
const CITIES = ['Berlin', 'Paris', 'Rome', 'Oslo'];

/** Thinks that the later in the alphabet is the better; knows nothing of Paris. */
const byAlphabet: Reranker = {
  rerank: async ({ documents }) =>
    documents.flatMap((text, index) =>
      text.includes('Paris') ? [] : [{ index, score: CITIES.toSorted().findIndex((city) => text.includes(city)) }],
    ),
};

async function bench(endpoint: Reranker | null) {
  const { search, remember } = await searchBench({ reranker: endpoint });
  for (const city of CITIES) await remember(`Ann has been to ${city}`);
  return async (more: object) => (await search({ ...question, ...more })).json();
}

const textsOf = ({ results }: { results: { memory: string }[] }) =>
  results.map(({ memory }) => memory.replace('Ann has been to ', ''));

test.each([true, 'endpoint'])(
  'with rerank: %s the order is that of the reranker; what it leaves out follows',
  async (rerank) => {
    const ask = await bench(byAlphabet);
    const answer = await ask({ rerank });
    expect(textsOf(answer)).toEqual(['Rome', 'Oslo', 'Berlin', 'Paris']);
    expect(answer.results.map(({ rerank_score: score }: { rerank_score?: number }) => score)).toEqual([
      3,
      1,
      0,
      undefined,
    ]);
    expect(answer.degraded).toBeUndefined();
  },
);

test('nothing is reranked unless it is asked for', async () => {
  const ask = await bench({ rerank: () => Promise.reject(new Error('it was asked')) });
  expect((await ask({})).degraded).toBeUndefined();
  expect((await ask({ rerank: false })).degraded).toBeUndefined();
});

test('a reranker that fails leaves the results in their own order, and it is said', async () => {
  const failing = new EngineError('got status 500', { code: 'model_server_error', retryable: true });
  const ask = await bench({ rerank: () => Promise.reject(failing) });
  const answer = await ask({ rerank: true });
  expect(textsOf(answer)).toEqual(textsOf(await ask({})));
  expect(answer.degraded).toEqual(['the results were not reranked (model_server_error)']);
});

test('a reranker that is late is told to stop, and the results come without it', async () => {
  let told: { readonly aborted: boolean } | null = null;
  const ask = await bench({
    rerank: (_question, cancel) => {
      told = cancel;
      return new Promise(() => {});
    },
  });
  const answer = await ask({ rerank: true, timeout_ms: 50 });
  expect(answer.results).toHaveLength(4);
  expect(answer.degraded).toEqual(['reranking omitted: not done within timeout_ms']);
  expect(told).toMatchObject({ aborted: true });
});

test.each([
  [true, 'SLOWWAVE_RERANK_URL or SLOWWAVE_CHAT_MODEL'],
  ['endpoint', 'SLOWWAVE_RERANK_URL'],
  ['model', 'SLOWWAVE_CHAT_MODEL'],
])('rerank: %s is refused where there is none, with what to set', async (rerank, setting) => {
  const ask = await bench(null);
  const answer = await ask({ rerank });
  expect(answer).toMatchObject({ status: 422, code: 'not_configured', errors: [{ path: 'rerank' }] });
  expect(answer.detail).toContain(setting);
});

test('the chat model judges on the account of who asks', async () => {
  const chat = fakeChat({
    rerank_memories: ({ memories }) => ({
      ranking: (memories as { id: string; text: string }[])
        .filter(({ text }) => text.includes('Oslo'))
        .map(({ id }) => ({ id, relevance: 0.9 })),
    }),
  });
  const real = await searchBench();
  const { ledger, index, tools, settings } = real.engine.deps;
  for (const city of CITIES) await real.remember(`Ann has been to ${city}`);
  const reader = { ledger, tools, settings, chat, meter: silentMeter, ...ONE_CHAT };
  const { search } = await searchBench({ index, ledger, reader });
  const answer = (await search({ ...question, rerank: 'model' })).json();
  expect(textsOf(answer)[0]).toBe('Oslo');
  expect(answer.results[0].rerank_score).toBe(0.9);
  const usage = (await real.app.inject('/v1/stats')).json().usage;
  expect(usage).toMatchObject({ calls: 1, failed_calls: 0 });
});
