import type { IndexQuery, SearchIndex } from '@slowwave/engine';
import { expect, test } from 'vitest';
import type { SearchDeps } from './deps.ts';
import { searchBench } from './testing/bench.ts';

const question = { query: 'Berlin', user_id: 'ann', timeout_ms: 30 };
const nothingComes = <T>(): Promise<T> => new Promise<T>(() => {});

/** An index of which one kind of question is never answered. */
const stuck = (index: SearchIndex, isStuck: (query: IndexQuery) => boolean): SearchIndex => ({
  ...index,
  search: (queries) => (queries.some(isStuck) ? nothingComes() : index.search(queries)),
});

/** Reads with some parts replaced, over a store that knows where Ann lives. */
async function bench(replace: (deps: { index: SearchIndex }) => Partial<SearchDeps>) {
  const real = await searchBench();
  await real.remember('Ann lives in Berlin');
  const { index, ledger, tools } = real.engine.deps;
  const { search } = await searchBench({ index, ledger, tools, ...replace({ index }) });
  return async (more: object = {}) => search({ ...question, ...more });
}

test('a question that is not embedded in time is searched by its words, and the embedder is told to stop', async () => {
  let told: AbortSignal | null = null;
  const ask = await bench(() => ({
    embedQuery: (_query, cancel) => {
      told = cancel;
      return nothingComes();
    },
  }));
  const answer = await ask();
  expect(answer.json().results).toMatchObject([{ memory: 'Ann lives in Berlin' }]);
  expect(answer.json().degraded).toEqual(['vector search omitted: not done within timeout_ms']);
  expect(told).toMatchObject({ aborted: true });
});

test('a leg of the index that is late is left out', async () => {
  const ask = await bench(({ index }) => ({ index: stuck(index, ({ terms }) => terms !== null) }));
  const answer = await ask({ include: ['scores'] });
  expect(answer.json().results).toMatchObject([{ memory: 'Ann lives in Berlin', scores: { keyword: null } }]);
  expect(answer.json().degraded).toEqual(['keyword search omitted: not done within timeout_ms']);
});

test('in time, both legs count for each hit', async () => {
  const ask = await bench(() => ({}));
  const answer = await ask({ timeout_ms: 5_000, include: ['scores'] });
  expect(answer.json().degraded).toBeUndefined();
  const [{ scores }] = answer.json().results;
  expect([scores.vector, scores.keyword].every((score) => score > 0)).toBe(true);
});

test('sources and histories that are late are left out', async () => {
  const { engine, remember } = await searchBench();
  const slow = { ...engine.deps.ledger, lookups: { around: nothingComes, histories: nothingComes } };
  const { index, tools } = engine.deps;
  const { search } = await searchBench({ ledger: slow as never, index, tools });
  await remember('Ann lives in Berlin');
  const answer = (await search({ ...question, include: ['sources', 'history'] })).json();
  expect(answer.results).toHaveLength(1);
  expect(answer.results[0].history).toBeUndefined();
  expect(answer.degraded).toEqual(['histories omitted: not done within timeout_ms']);
});

test.each(['hybrid', 'vector', 'keyword'])('a %s search that finds nothing in time says so', async (mode) => {
  const ask = await bench(({ index }) => ({ index: stuck(index, () => true) }));
  const answer = await ask({ mode });
  expect(answer.json()).toMatchObject({ status: 504, code: 'timed_out' });
});
