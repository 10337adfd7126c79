import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

type Found = readonly { readonly memory: string }[];
const textsOf = (results: Found): string[] => results.map(({ memory }) => memory);
const inQuery = (filter: object): string => encodeURIComponent(JSON.stringify(filter));

async function bench(given: Parameters<typeof searchBench>[0] = {}) {
  const made = await searchBench(given);
  await made.remember('Ann drinks tea');
  await made.remember('Ann drinks tea at work', { user_id: 'ann', app_id: 'work' });
  await made.remember('Bob drinks tea', { user_id: 'bob' });
  const found = async (filters: object, more: object = {}) => {
    const answer = await made.search({ query: 'tea', user_id: 'ann', filters, ...more });
    return textsOf(answer.json().results).sort();
  };
  const listed = async (filter: object, more = '') =>
    made.app.inject(`/v1/memories?user_id=ann&filters=${inQuery(filter)}${more}`);
  return { ...made, found, listed };
}

test('a search brings what its filter says, of the memories it would bring without', async () => {
  const { found } = await bench();
  expect(await found({ app_id: '*' })).toEqual(['Ann drinks tea at work']);
  expect(await found({ NOT: [{ app_id: '*' }], 'metadata.from': 'test' })).toEqual(['Ann drinks tea']);
  expect(await found({ OR: [{ user_id: 'bob' }, { categories: 'home' }] })).toHaveLength(2);
  expect(await found({ user_id: 'bob' })).toEqual([]);
  expect(await found({ app_id: '*' }, { mode: 'keyword', timeout_ms: 10_000 })).toHaveLength(1);
});

test('a list brings what its filter says, page by page', async () => {
  const { listed, app } = await bench();
  const first = (await listed({ categories: 'home' }, '&limit=1')).json();
  const second = (await listed({ categories: 'home' }, `&limit=1&cursor=${first.next_cursor}`)).json();
  expect(textsOf([...first.results, ...second.results]).sort()).toEqual(['Ann drinks tea', 'Ann drinks tea at work']);
  expect(second.next_cursor).toBeNull();
  expect(textsOf((await listed({ app_id: null })).json().results)).toEqual(['Ann drinks tea']);
  expect((await listed({ user_id: 'bob' })).json().results).toEqual([]);
  const broken = await app.inject('/v1/memories?user_id=ann&filters=%7B');
  expect(broken.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path: 'filters' }] });
});

test('a mistake is told with its place, before a model is asked', async () => {
  const { search, listed } = await bench({ embedQuery: () => Promise.reject(new Error('no model was to be asked')) });
  const filters = { AND: [{ created_at: { gte: 'yesterday' } }] };
  const expected = {
    status: 400,
    code: 'invalid_request',
    errors: [
      {
        path: 'filters.AND[0].created_at.gte',
        message: 'expected a day like 2026-03-01 or a time like 2026-03-01T09:30:00Z, got "yesterday"',
      },
    ],
  };
  expect((await search({ query: 'tea', user_id: 'ann', filters })).json()).toMatchObject(expected);
  expect((await listed(filters)).json()).toMatchObject(expected);
});

test('a filter is no way to another user, nor around a scope', async () => {
  const { search } = await bench();
  const answer = await search({ query: 'tea', filters: { user_id: 'bob' } });
  expect(answer.json()).toMatchObject({ status: 400, errors: [{ path: 'user_id' }] });
});

/** More than the index has of one memory. */
const RUNS = 34;

test('a memory is found by every id it was said under, also by those the index has no room for', async () => {
  const { engine, app, search } = await searchBench();
  for (let run = 0; run < RUNS; run += 1) {
    await engine.post(['Ann drinks tea'], { scope: { runId: `r${run}`, appId: run === 0 ? 'shop' : 'health' } });
    await engine.run();
    engine.tools.advance(1_000);
  }
  await engine.post(['Bob plays chess'], { scope: { runId: 'r0' } });
  await engine.run();
  expect((await engine.memories()).length).toBe(2);
  const found = async (body: object) => {
    const answer = (await search({ query: 'Ann tea, Bob chess', user_id: 'ann', cut: 'none', ...body })).json();
    return textsOf(answer.results).sort();
  };
  const both = ['Ann drinks tea', 'Bob plays chess'];
  expect(await found({ run_id: 'r0' })).toEqual(both);
  expect(await found({ run_id: 'r1', app_id: 'shop' })).toEqual(['Ann drinks tea']);
  expect(await found({ run_id: 'nobody' })).toEqual([]);
  expect(await found({ filters: { run_id: ['r1', 'r33'] } })).toEqual(['Ann drinks tea']);
  expect(await found({ filters: { run_id: { ne: 'r0' } } })).toEqual([]);
  expect(await found({ filters: { run_id: { nin: ['r1', 'r2'] } } })).toEqual(['Bob plays chess']);
  expect(await found({ app_id: 'shop', filters: { NOT: [{ app_id: 'health' }] } })).toEqual([]);
  const listed = async (query: string) =>
    textsOf((await app.inject(`/v1/memories?user_id=ann&${query}`)).json().results);
  expect((await listed('run_id=r0')).sort()).toEqual(both);
  expect(await listed('run_id=r1&app_id=shop')).toEqual(['Ann drinks tea']);
  expect(await listed(`filters=${inQuery({ run_id: { ne: 'r0' } })}`)).toEqual([]);
});
