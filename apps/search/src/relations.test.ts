import { DEFAULT_TENANT, EngineError, graphWriter, projectGraphNow, type SearchIndex } from '@slowwave/engine';
import { type SaidRelation, sayGraph, user } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import type { SearchDeps } from './deps.ts';
import { searchBench } from './testing/bench.ts';

const FAMILY: readonly SaidRelation[] = [
  'Bea Lind > sister_of > Ana',
  'Carl > brother_of > Ana',
  'Bea Lind > works_at > Acme',
  'Carl > works_at > Bolt',
  'Acme > makes > umbrellas',
  'Bolt > makes > bicycles',
];

type End = { readonly name: string };
type Relation = { readonly source: End; readonly relationship: string; readonly destination: End };

async function bench(relations: readonly SaidRelation[] = FAMILY, given: Partial<SearchDeps> = {}) {
  const real = await searchBench();
  const { deps } = real.engine;
  const { lane } = await sayGraph(deps, relations);
  await projectGraphNow(deps, lane, 'not told');
  const { ledger, index, tools } = deps;
  const { search, app } = await searchBench({ ledger, index, tools, ...given });
  const ask = async (query: string, more: object = {}) =>
    (await search({ query, user_id: 'ann', include: ['relations'], ...more })).json();
  const said = async (query: string, more: object = {}): Promise<string[]> =>
    ((await ask(query, more)).relations ?? []).map(
      ({ source, relationship, destination }: Relation) => `${source.name} ${relationship} ${destination.name}`,
    );
  const get = async (url: string) => (await app.inject({ method: 'GET', url })).json();
  const context = async (body: object) =>
    (await app.inject({ method: 'POST', url: '/v1/context', payload: { user_id: 'ann', ...body } })).json();
  const deny = (id: string) => graphWriter(deps).remove(DEFAULT_TENANT, id);
  return { ...real, lane, ask, said, search, get, context, deny };
}

const never = () => new Promise<never>(() => {});
const QUESTION = "what does Ana's sister's employer make?";

describe('relations of a search', () => {
  test('answer what takes several steps, best first, with what they need to be shown', async () => {
    const { ask } = await bench();
    const { relations, degraded } = await ask(QUESTION, { top_k: 3 });
    expect(degraded).toBeUndefined();
    expect(relations).toHaveLength(3);
    expect(relations[0]).toMatchObject({
      source: { name: 'Acme' },
      relationship: 'makes',
      destination: { name: 'umbrellas' },
      text: 'Acme makes umbrellas',
      valid_from: '2026-03-01T09:00:00.000Z',
      invalid_at: null,
      memory_ids: [],
    });
    expect(relations[0].score).toBeGreaterThan(relations[1].score);
  });

  test('are in the receipt of a search and of a context, as they are now', async () => {
    const { ask, context, get, deny } = await bench();
    const { receipt_id, relations } = await ask(QUESTION, { top_k: 2 });
    const core = relations.map(
      ({ score: _, memory_ids: __, ...relation }: { score: number; memory_ids: string[] }) => ({
        ...{ kind: 'relation', ...relation, current: true },
      }),
    );
    expect((await get(`/v1/receipts/${receipt_id}`)).told).toEqual(core);
    const { text, receipt_id: ofContext } = await context({ query: QUESTION, sections: ['relations'] });
    const { told } = await get(`/v1/receipts/${ofContext}`);
    const lines = told.map(
      (one: { valid_from: string; text: string }) => `- ${one.valid_from.slice(0, 10)} ${one.text}`,
    );
    expect(lines.length).toBeGreaterThan(1);
    expect(text).toContain(`# Relations\n${lines.join('\n')}\n# Today`);
    await deny(relations[0].id);
    expect((await get(`/v1/receipts/${receipt_id}`)).told).toEqual([{ id: relations[0].id, forgotten: true }, core[1]]);
  });

  test('are not in the answer of who did not ask, and are empty where there is no graph', async () => {
    const { search, ask } = await bench();
    expect((await search({ query: QUESTION, user_id: 'ann' })).json()).not.toHaveProperty('relations');
    expect(await ask(QUESTION, { user_id: 'bob' })).toMatchObject({ relations: [], results: [] });
  });

  test('are found by their text where nobody is named, and by words alone', async () => {
    const { said } = await bench();
    expect((await said('who makes bicycles?'))[0]).toBe('Bolt makes bicycles');
    expect((await said('who makes bicycles?', { mode: 'keyword' }))[0]).toBe('Bolt makes bicycles');
  });

  test('begin at who asks', async () => {
    const { said } = await bench(['me > brother_of > Dora', 'Dora > lives_in > Oslo', 'Ana > lives_in > Rome']);
    expect((await said('where does my sister live?'))[0]).toBe('Dora lives_in Oslo');
  });

  test('of another time are those that held then', async () => {
    const [jan, feb] = [Date.parse('2026-01-01T00:00:00Z'), Date.parse('2026-02-01T00:00:00Z')];
    const { said } = await bench([
      { says: 'Ana > lives_in > Oslo', validFrom: jan, single: true },
      { says: 'Ana > lives_in > Rome', validFrom: feb, single: true },
    ]);
    const question = 'where does Ana live?';
    expect(await said(question)).toEqual(['Ana lives_in Rome']);
    expect(await said(question, { as_of: '2026-01-15T00:00:00Z' })).toEqual(['Ana lives_in Oslo']);
    expect(await said(question, { as_of: '2025-12-15T00:00:00Z' })).toEqual([]);
    const ever = await said(question, { latest_only: false });
    expect(ever.sort()).toEqual(['Ana lives_in Oslo', 'Ana lives_in Rome']);
    expect(await said(question, { latest_only: false, as_of: '2026-01-15T00:00:00Z' })).toEqual(['Ana lives_in Oslo']);
  });

  test('keep to the other ids and the filter by the memories they came from', async () => {
    const real = await searchBench();
    const { deps } = real.engine;
    const work = await real.remember('Ana works at Acme', { user_id: 'ann', app_id: 'work' });
    const home = await real.remember('Ana lives in Oslo', { user_id: 'ann', app_id: 'home' });
    const foreign = await real.remember('Ana likes tea', { user_id: 'bob', app_id: 'work' });
    await sayGraph(deps, [
      { says: 'Ana > works_at > Acme', memoryIds: [work] },
      { says: 'Ana > lives_in > Oslo', memoryIds: [home] },
      { says: 'Ana > likes > tea', memoryIds: [foreign] },
      'Ana > knows > Bea',
    ]);
    const destinations = async (more: object): Promise<string[]> => {
      const body = { query: 'what about Ana?', user_id: 'ann', include: ['relations'], ...more };
      const { relations } = (await real.search(body)).json();
      return relations.map(({ destination }: Relation) => destination.name).sort();
    };
    expect(await destinations({})).toEqual(['Acme', 'Bea', 'Oslo', 'tea']);
    expect(await destinations({ app_id: 'work' })).toEqual(['Acme']);
    expect(await destinations({ agent_id: 'helper' })).toEqual([]);
    expect(await destinations({ filters: { metadata: { from: 'test' } } })).toEqual(['Acme', 'Oslo']);
    expect(await destinations({ filters: { metadata: { from: 'nobody' } } })).toEqual([]);
  });

  test('bring the memories forward that they came from', async () => {
    const real = await searchBench();
    const texts = async (more: object = {}) =>
      (await real.search({ query: 'what does Ana drink?', user_id: 'ann', ...more })).json().results;
    await real.remember('Ana will drink a glass of milk');
    const tea = await real.remember('Ana prefers to drink Assam tea in the mornings');
    expect((await texts())[1]).toMatchObject({ id: tea });
    await sayGraph(real.engine.deps, [{ says: 'Ana > drinks > Assam', memoryIds: [tea] }]);
    const [first, second] = [await texts(), await texts({ include: ['relations'] })];
    expect(first[1].id).toBe(tea);
    const gap = (results: readonly { readonly id: string; readonly score: number }[]) =>
      (results.find(({ id }) => id === tea)?.score ?? 0) / (results.find(({ id }) => id !== tea)?.score ?? 1);
    expect(gap(second)).toBeGreaterThan(gap(first));
  });
});

describe('relations that cannot be had', () => {
  test('because the ledger does not answer are left out and named', async () => {
    const { engine, remember } = await searchBench();
    const away = async (): Promise<never> => {
      throw new EngineError('connect ECONNREFUSED 10.0.0.7', { code: 'ledger_unavailable', retryable: true });
    };
    const ledger = { ...engine.deps.ledger, graph: { ...engine.deps.ledger.graph, self: away, named: away } };
    const { index, tools } = engine.deps;
    const { search } = await searchBench({ ledger, index, tools });
    await remember('Ann lives in Berlin');
    const answer = await search({ query: 'Berlin', user_id: 'ann', include: ['relations'] });
    expect(answer.json().degraded).toEqual(['relations omitted: could not be read (ledger_unavailable)']);
    expect(answer.body).not.toContain('10.0.0.7');
  });

  test('in time are left out, and the memories are there', async () => {
    const { engine, remember } = await searchBench();
    await remember('Ann lives in Berlin');
    const { index, ledger, tools } = engine.deps;
    const stuck: SearchIndex = {
      ...index,
      search: (queries) => (queries.some(({ shelf }) => shelf === 'relations') ? never() : index.search(queries)),
    };
    await ledger.memories.laneOf(DEFAULT_TENANT, user('ann'), tools.now());
    const { search } = await searchBench({ index: stuck, ledger, tools });
    const asked = { query: 'Berlin', user_id: 'ann', include: ['relations'], timeout_ms: 300 };
    const { results, relations, degraded } = (await search(asked)).json();
    expect(results).toHaveLength(1);
    expect(relations).toEqual([]);
    expect(degraded).toEqual(['relations omitted: not done within timeout_ms']);
  });

  test('with a vector are looked for by names and words', async () => {
    const away = async (): Promise<never> => {
      throw new EngineError('no model', { code: 'model_unreachable', retryable: true });
    };
    const { said } = await bench(FAMILY, { embedQuery: away });
    expect((await said(QUESTION))[0]).toBe('Acme makes umbrellas');
  });
});
