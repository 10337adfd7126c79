import { DEFAULT_TENANT, EngineError } from '@slowwave/engine';
import type { FakeEmbedder } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const question = { query: 'where does she live: Berlin?', user_id: 'ann' };
const away = async (): Promise<never> => {
  throw new EngineError('connect ECONNREFUSED 10.0.0.7', { code: 'model_unreachable', retryable: true });
};

test('a search finds the memory that answers, and shows it whole', async () => {
  const { search, remember } = await searchBench();
  const id = await remember('Ann lives in Berlin');
  await remember('Ann likes green tea');
  const answer = await search(question);
  expect(answer.statusCode).toBe(200);
  expect(answer.json().degraded).toBeUndefined();
  expect(answer.json().results[0]).toMatchObject({
    id,
    memory: 'Ann lives in Berlin',
    version: 1,
    user_id: 'ann',
    agent_id: null,
    metadata: { from: 'test' },
    categories: ['home'],
    invalid_at: null,
    valid_from: '2026-03-01T09:00:00.000Z',
    created_at: '2026-03-01T09:00:00.000Z',
  });
  expect(answer.json().results[0].scores).toBeUndefined();
  expect(answer.json().results[0].sources).toBeUndefined();
});

test.each(['hybrid', 'vector', 'keyword'])('%s mode finds it too, and shows raw scores on request', async (mode) => {
  const { search, remember } = await searchBench();
  await remember('Ann lives in Berlin');
  const { results } = (await search({ ...question, mode, include: ['scores'] })).json();
  expect(results[0].memory).toBe('Ann lives in Berlin');
  expect(results[0].scores.vector === null).toBe(mode === 'keyword');
  expect(results[0].scores.keyword === null).toBe(mode === 'vector');
});

test('no more than top_k results come back, the best first', async () => {
  const { search, remember } = await searchBench();
  for (const city of ['Berlin', 'Paris', 'Rome', 'Oslo']) await remember(`Ann has been to ${city}`);
  const { results } = (await search({ query: 'Rome', user_id: 'ann', top_k: 2, cut: 'none' })).json();
  expect(results).toHaveLength(2);
  expect(results[0].memory).toContain('Rome');
  expect(results[0].score).toBeGreaterThanOrEqual(results[1].score);
});

test('what does not answer is left out, unless nothing or a threshold is to be', async () => {
  const { search, remember } = await searchBench();
  for (const memory of ['Ann lives in Berlin', 'Ann likes green tea', 'Ann has a beagle']) await remember(memory);
  const found = async (query: string, more: object = {}): Promise<string[]> =>
    (await search({ query, user_id: 'ann', ...more })).json().results.map(({ memory }: { memory: string }) => memory);
  expect(await found('Which pets does she own?')).toEqual(['Ann has a beagle']);
  expect(await found('Which insurance does she have?')).toEqual([]);
  expect(await found('Which insurance does she have?', { cut: 'none' })).toHaveLength(3);
  expect(await found('Which insurance does she have?', { threshold: 0 })).toHaveLength(3);
  expect(await found('Which insurance does she have?', { threshold: 0, cut: 'auto' })).toEqual([]);
  expect((await search({ query: 'tea', user_id: 'ann', cut: 'some' })).statusCode).toBe(400);
});

test('a threshold leaves out what scores less', async () => {
  const { search, remember } = await searchBench();
  await remember('Ann lives in Berlin');
  await remember('Ann likes green tea');
  const [best, second] = (await search({ ...question, cut: 'none' })).json().results;
  const threshold = (best.score + second.score) / 2;
  const { results } = (await search({ ...question, threshold })).json();
  expect(results.map(({ memory }: { memory: string }) => memory)).toEqual(['Ann lives in Berlin']);
});

test('a threshold beside the cut does not make few of many: what does not answer stays out', async () => {
  const { search, remember } = await searchBench();
  for (const city of 'Oslo Rome Bergen Paris Turin Lisbon Porto Berlin Vienna Prague Ghent'.split(' '))
    await remember(`Ann flew to ${city}`);
  const asked = { query: 'Which insurance did Ann buy in Oslo?', user_id: 'ann' };
  const [best] = (await search({ ...asked, cut: 'none' })).json().results;
  expect((await search(asked)).json().results).toEqual([]);
  expect((await search({ ...asked, cut: 'auto', threshold: best.score })).json().results).toEqual([]);
});

test('nobody finds the memories of another owner', async () => {
  const { search, remember } = await searchBench();
  await remember('Ann lives in Berlin', { user_id: 'ann', agent_id: 'helper' });
  for (const ids of [{ user_id: 'bob' }, { agent_id: 'helper' }, { agent_id: 'ann' }, { run_id: 'ann' }]) {
    expect((await search({ query: 'Berlin', ...ids })).json().results).toEqual([]);
  }
});

test('the other ids only filter', async () => {
  const { search, remember } = await searchBench();
  await remember('Ann lives in Berlin', { user_id: 'ann', agent_id: 'helper' });
  await remember('Ann works in Berlin', { user_id: 'ann', run_id: 'r1' });
  const found = async (ids: object) =>
    (await search({ query: 'Berlin', user_id: 'ann', ...ids }))
      .json()
      .results.map((hit: { memory: string }) => hit.memory);
  expect(await found({})).toHaveLength(2);
  expect(await found({ agent_id: 'helper' })).toEqual(['Ann lives in Berlin']);
  expect(await found({ run_id: 'r1' })).toEqual(['Ann works in Berlin']);
  expect(await found({ app_id: 'x' })).toEqual([]);
});

test('as_of shows what held then', async () => {
  const { search, engine } = await searchBench();
  const at = (text: string) => Date.parse(text);
  await engine.post([{ content: 'Ann lives in Berlin', at: at('2026-01-01T00:00:00Z') }]);
  await engine.run();
  await engine.post([{ content: 'Ann lives in Paris', at: at('2026-02-01T00:00:00Z') }]);
  await engine.run();
  const texts = async (more: object) =>
    (await search({ ...question, ...more })).json().results.map((hit: { memory: string }) => hit.memory);
  expect(await texts({})).toEqual(['Ann lives in Paris']);
  expect(await texts({ as_of: '2026-01-15T00:00:00Z' })).toEqual(['Ann lives in Berlin']);
  expect(await texts({ as_of: '2025-12-15T00:00:00Z' })).toEqual([]);
});

test('sources on request are the messages it came from', async () => {
  const { search, engine } = await searchBench();
  await engine.post([{ content: 'Ann lives in Berlin', clientId: 'm1' }]);
  await engine.run();
  const { results } = (await search({ ...question, include: ['sources'] })).json();
  expect(results[0].sources).toMatchObject([
    { id: 'm1', role: 'user', content: 'Ann lives in Berlin', is_source: true },
  ]);
});

test('the same question is embedded once', async () => {
  const { search, embedder } = await searchBench();
  await search(question);
  await search(question);
  expect((embedder as FakeEmbedder).calls).toHaveLength(1);
});

test('an index that cannot be believed is said so', async () => {
  const { search } = await searchBench({ indexState: async () => 'the index belongs to another ledger' });
  expect((await search(question)).json().degraded).toEqual(['the index belongs to another ledger']);
});

test('without its model a hybrid search still finds by keyword, and says so', async () => {
  const { search, remember } = await searchBench({ embedQuery: away });
  await remember('Ann lives in Berlin');
  const answer = await search(question);
  expect(answer.json().results).toHaveLength(1);
  expect(answer.json().degraded[0]).toContain('model_unreachable');
  expect(answer.body).not.toContain('10.0.0.7');
});

test('without its model a vector search fails, with when to come back', async () => {
  const { search } = await searchBench({ embedQuery: away });
  const answer = await search({ ...question, mode: 'vector' });
  expect(answer.json()).toMatchObject({ status: 502, code: 'model_unavailable' });
  expect(answer.headers['retry-after']).toBe('2');
});

test.each([
  ['no query', { user_id: 'ann' }, 'query'],
  ['an empty query', { user_id: 'ann', query: '' }, 'query'],
  ['a blank query', { user_id: 'ann', query: ' \n' }, 'query'],
  ['a number as query', { user_id: 'ann', query: 5 }, 'query'],
  ['no ids', { query: 'Berlin' }, 'user_id'],
  ['a blank user', { query: 'Berlin', user_id: ' ' }, 'user_id'],
  ['no results wanted', { ...question, top_k: 0 }, 'top_k'],
  ['half a result wanted', { ...question, top_k: 1.5 }, 'top_k'],
  ['too many wanted', { ...question, top_k: 100_000 }, 'top_k'],
  ['a threshold above one', { ...question, threshold: 2 }, 'threshold'],
  ['an unknown mode', { ...question, mode: 'magic' }, 'mode'],
  ['an unknown include', { ...question, include: ['all'] }, 'include[0]'],
  ['a moment that is none', { ...question, as_of: 'then' }, 'as_of'],
  ['a reranker that nobody knows', { ...question, rerank: 'best' }, 'rerank'],
  ['a setting that is not honoured', { ...question, sort: 'up' }, 'sort'],
])('a search with %s is refused, naming the place', async (_name, body, path) => {
  const { search } = await searchBench();
  const answer = await search(body);
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
});

async function bench() {
  const made = await searchBench();
  const explain = async (query: string, more: object = {}) =>
    (await made.search({ user_id: 'ann', query, explain: true, ...more })).json();
  return { ...made, explain };
}

/** More than few, so that the cut goes by how likely they answer. */
const OTHERS = [
  'Ann plays the violin',
  'Ann bought red shoes',
  'Ann was in Rome',
  'Ann fears spiders',
  'Ann sings in a choir',
  'Ann has a scar on her knee',
  'Ann reads crime novels',
  'Ann lost her umbrella',
  'Ann paints landscapes',
  'Ann knows Morse code',
];

test('says of each result what each search and each factor gave it, and what its memory said before', async () => {
  const b = await bench();
  for (const text of OTHERS) await b.remember(text);
  const id = await b.remember('Ann drinks green tea');
  await b.writer.change(DEFAULT_TENANT, id, { text: 'Ann drinks black tea' });
  const { results } = await b.explain('Which tea does Ann drink?', { include: ['scores'] });
  const [first] = results;
  expect(first).toMatchObject({ id, memory: 'Ann drinks black tea' });
  const { keyword, vector, fused, boosts, chance, passed_over } = first.explanation;
  expect(keyword).toEqual({ score: first.scores.keyword, rank: 1 });
  expect(vector.score).toBe(first.scores.vector);
  expect(fused).toBeGreaterThan(0.8);
  expect(boosts.shared).toBe(0.1);
  expect(chance).toBeGreaterThan(0);
  expect(passed_over).toMatchObject([{ version: 1, memory: 'Ann drinks green tea' }]);
});

test('says where the results end, and which memory is the first one below', async () => {
  const b = await bench();
  for (const text of [...OTHERS, 'Ann drinks black tea']) await b.remember(text);
  const { results, explanation } = await b.explain('Which tea does Ann drink?');
  expect(results).toHaveLength(1);
  expect(explanation).toMatchObject({ cut: 'likelihood', answered_least: 0.35, threshold: null, found: 11 });
  expect(explanation.answered).toBeGreaterThanOrEqual(0.35);
  expect(explanation.below.chance).toBeLessThan(explanation.chance_least);
  expect(results[0].explanation.chance).toBeGreaterThanOrEqual(explanation.chance_least);
  expect(OTHERS).toContain(explanation.below.memory);
  const uncut = await b.explain('Which tea does Ann drink?', { cut: 'none', top_k: 3 });
  expect(uncut.explanation).toMatchObject({ cut: 'off', answered_least: null, chance_least: null });
  expect(uncut.explanation.answered).toBe(explanation.answered);
  expect(uncut.results[0].explanation.chance).toBe(results[0].explanation.chance);
  expect(uncut.explanation.below.memory).toBe((await all(b))[3]);
});

const all = async ({ search }: Awaited<ReturnType<typeof bench>>): Promise<string[]> =>
  (await search({ user_id: 'ann', query: 'Which tea does Ann drink?', cut: 'none', top_k: 20 }))
    .json()
    .results.map(({ memory }: { memory: string }) => memory);

test('of an answer without results says why there are none', async () => {
  const b = await bench();
  for (const text of OTHERS) await b.remember(text);
  const { results, explanation } = await b.explain('qwerty asdfgh?');
  expect(results).toEqual([]);
  expect(explanation).toMatchObject({ cut: 'nothing', found: 10 });
  expect(explanation.below).not.toBeNull();
  const nobody = (await b.search({ user_id: 'bob', query: 'tea?', explain: true })).json();
  expect(nobody.explanation).toMatchObject({ found: 0, below: null });
});

test('the parts of an explanation add up to the order', async () => {
  const b = await bench();
  for (const text of [...OTHERS, 'Ann drinks black tea', 'Ann drinks tea with Bob']) await b.remember(text);
  const { results } = await b.explain('When does Ann drink tea?', { cut: 'none', include: ['scores'] });
  const sums = results.map(({ explanation: { fused, boosts } }: (typeof results)[number]) =>
    Object.values<number>(boosts).reduce((sum, boost) => sum + boost, fused),
  );
  results.forEach(({ scores }: (typeof results)[number], i: number) => {
    expect(scores.relative).toBeCloseTo(Math.max(0, sums[i]) / sums[0]);
  });
});

test('is given to those alone who ask for it', async () => {
  const b = await bench();
  await b.remember('Ann drinks black tea');
  const plain = (await b.search({ user_id: 'ann', query: 'tea?' })).json();
  expect(JSON.stringify(plain)).not.toContain('explanation');
});
