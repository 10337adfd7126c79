import { DEFAULT_TENANT } from '@slowwave/engine';
import { indexPoint } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const DAY_MS = 86_400_000;
const question = { query: 'where does Ann live: Berlin or Paris?', user_id: 'ann' };

async function moved() {
  const bench = await searchBench();
  const { engine } = bench;
  await engine.post([{ content: 'Ann lives in Berlin', at: Date.parse('2026-01-01T00:00:00Z'), clientId: 'm1' }]);
  await engine.run();
  await engine.post([
    { role: 'assistant', content: 'Anything new?', at: Date.parse('2026-02-01T00:00:00Z') },
    { content: 'Ann lives in Paris', at: Date.parse('2026-02-01T00:01:00Z'), clientId: 'm2' },
    { role: 'assistant', content: 'Lovely.', at: Date.parse('2026-02-01T00:02:00Z') },
  ]);
  await engine.run();
  const ask = async (more: object) => (await bench.search({ ...question, ...more })).json();
  return { ...bench, ask };
}

test('all versions are found on request, each with its validity and whether it is the latest', async () => {
  const { ask } = await moved();
  const { results } = await ask({ latest_only: false });
  const shown = results.map(({ memory, latest, invalid_at }: Record<string, unknown>) => [memory, latest, invalid_at]);
  expect(shown.sort()).toEqual([
    ['Ann lives in Berlin', false, '2026-02-01T00:01:00.000Z'],
    ['Ann lives in Paris', true, null],
  ]);
  expect(results[0].id).toBe(results[1].id);
});

test('of a change that is to come the latest is what the memory says today, before it begins and afterwards', async () => {
  const { search, engine } = await searchBench();
  const { ledger, index, embedder, tools } = engine.deps;
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, tools.now());
  const monday = tools.now() + 3 * DAY_MS;
  const home = { memoryId: 'home', lane, vector: new Float32Array(embedder.dimensions) };
  await index.upsert([
    indexPoint({ ...home, version: 1, text: 'Ann lives in Berlin', invalidAt: monday }),
    indexPoint({ ...home, version: 2, text: 'Ann lives in Paris', validFrom: monday, shownFrom: monday }),
  ]);
  const latest = async () => {
    const { results } = (await search({ ...question, latest_only: false })).json();
    return results.flatMap((one: { memory: string; latest: boolean }) => (one.latest ? [one.memory] : []));
  };
  expect(await latest()).toEqual(['Ann lives in Berlin']);
  engine.tools.set(monday);
  expect(await latest()).toEqual(['Ann lives in Paris']);
});

test('with as_of, all versions are those that had begun by then', async () => {
  const { ask } = await moved();
  const texts = async (as_of: string) =>
    (await ask({ latest_only: false, as_of })).results.map(({ memory }: { memory: string }) => memory);
  expect(await texts('2026-01-15T00:00:00Z')).toEqual(['Ann lives in Berlin']);
  expect((await texts('2026-03-01T00:00:00Z')).sort()).toEqual(['Ann lives in Berlin', 'Ann lives in Paris']);
});

test('a deleted memory is found by nobody, neither among all versions nor at a time when it held', async () => {
  const { ask, engine, writer } = await moved();
  const [memory] = await engine.memories();
  await writer.remove(DEFAULT_TENANT, memory?.id ?? '');
  expect((await ask({})).results).toEqual([]);
  for (const when of [{ latest_only: false }, { as_of: '2026-03-02T00:00:00Z' }])
    expect((await ask({ ...when, include: ['messages'] })).results).toEqual([]);
});

test('the history of each hit comes on request, oldest event first', async () => {
  const { ask } = await moved();
  const { results } = await ask({ include: ['history'] });
  expect(results[0].history).toMatchObject([
    { event: 'ADD', memory: 'Ann lives in Berlin' },
    { event: 'UPDATE', memory: 'Ann lives in Paris', previous: 'Ann lives in Berlin' },
  ]);
});

test('sources come with what was said before and after them, on request', async () => {
  const { ask } = await moved();
  const { results } = await ask({ include: ['sources'], before: 1, after: 1 });
  const said = results[0].sources.map(({ content, is_source }: Record<string, unknown>) => [content, is_source]);
  expect(said).toEqual([
    ['Anything new?', false],
    ['Ann lives in Paris', true],
    ['Lovely.', false],
  ]);
});

test('raw messages are found on request, with whose they are and what they are cited by', async () => {
  const { ask, engine } = await moved();
  const answer = await ask({ query: 'anything new?', include: ['messages', 'scores'] });
  const [first] = answer.messages;
  expect(first).toMatchObject({ content: 'Anything new?', role: 'assistant', user_id: 'ann' });
  const { results } = await engine.deps.ledger.batches.list(DEFAULT_TENANT, {}, { limit: 9, cursor: null });
  expect(results.map(({ id }) => id)).toContain(first.batch_id);
  expect(first.score).toBeGreaterThan(0);
  expect(first.scores.vector).toBeCloseTo(1);
  expect((await ask({ query: 'anything new?' })).messages).toBeUndefined();
});

test('messages that are in the index by their words alone are asked for by words alone', async () => {
  const real = await moved();
  const { index, ledger } = real.engine.deps;
  const { search } = await searchBench({ index, ledger, messagesInIndex: 'keyword' });
  const ask = async (more: object) => (await search({ ...question, include: ['messages', 'scores'], ...more })).json();
  const [first] = (await ask({ query: 'anything new?' })).messages;
  expect(first.scores).toMatchObject({ vector: null, keyword: expect.any(Number) });
  expect((await ask({ query: 'anything new?', mode: 'vector' })).messages).toEqual([]);
});

test('messages that are not in the index are refused', async () => {
  const { search } = await searchBench({ messagesInIndex: 'off' });
  const answer = (await search({ ...question, include: ['messages'] })).json();
  expect(answer).toMatchObject({ status: 422, code: 'not_configured', errors: [{ path: 'include' }] });
});

test.each(['🎉🎉', '她住在哪里？柏林', 'const a = (b) => c[d] ?? "it\'s" * 2; -- C++', `${'wo '.repeat(6_000)}Berlin`])(
  'a query like %.20s is answered, not broken',
  async (query) => {
    const { ask } = await moved();
    const answer = await ask({ query });
    expect(answer.degraded).toBeUndefined();
    expect(Array.isArray(answer.results)).toBe(true);
  },
);

test('a plain search reads the index, and of the ledger whose life is asked about', async () => {
  const real = await moved();
  const calls: string[] = [];
  const ledger = new Proxy(real.engine.deps.ledger, {
    get: (target, name) => {
      calls.push(String(name));
      return Reflect.get(target, name);
    },
  });
  const { search } = await searchBench({ ledger, index: real.engine.deps.index, noteReceipt: null });
  expect((await search({ ...question, include: ['scores'] })).json().results).toHaveLength(1);
  expect(calls.splice(0)).toEqual(['lanes']);
  await search({ ...question, include: ['sources', 'history'] });
  expect(calls, 'and once for all who said it').toEqual(['lanes', 'lookups', 'lookups', 'memories']);
});

test.each([
  ['neighbours without sources', { before: 2 }, 'before'],
  ['too many neighbours', { include: ['sources'], after: 21 }, 'after'],
  ['no time at all', { timeout_ms: 0 }, 'timeout_ms'],
  ['a week of time', { timeout_ms: 604_800_000 }, 'timeout_ms'],
])('a search for %s is refused, naming the place', async (_name, more, path) => {
  const { search } = await searchBench();
  const answer = await search({ ...question, ...more });
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path }] });
});
