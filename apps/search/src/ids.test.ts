import { DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

async function bench() {
  const b = await searchBench();
  await b.remember('Ann likes tea', { user_id: 'ann', run_id: 'r1', app_id: 'shop' });
  b.engine.tools.advance(1_000);
  await b.remember('Bob likes rum', { user_id: 'bob', run_id: 'r1' });
  const gone = await b.remember('Bob likes gin', { user_id: 'bob', run_id: 'r2' });
  await b.writer.remove(DEFAULT_TENANT, gone);
  return { ...b, get: async (url: string) => (await b.app.inject(url)).json() };
}

test('what memories were said under is listed with how many there are and since when, page by page', async () => {
  const { get } = await bench();
  const first = await get('/v1/ids?limit=1');
  expect(first.results).toMatchObject([{ kind: 'app', id: 'shop', memories: 1 }]);
  const second = await get(`/v1/ids?limit=1&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ results: [{ kind: 'run', id: 'r1', memories: 2 }], next_cursor: null });
  const [{ first_said_at, last_said_at }] = second.results;
  expect(Date.parse(last_said_at) - Date.parse(first_said_at)).toBe(1_000);
});

test('the memories of all owners that were said under an id are listed, narrowed by other ids and filters', async () => {
  const { get } = await bench();
  const texts = async (query: string) =>
    (await get(`/v1/ids/memories?${query}`)).results.map(({ memory }: { readonly memory: string }) => memory).sort();
  expect(await texts('run_id=r1')).toEqual(['Ann likes tea', 'Bob likes rum']);
  expect(await texts('run_id=r1&app_id=shop')).toEqual(['Ann likes tea']);
  expect(await texts(`run_id=r1&filters=${encodeURIComponent('{"memory":{"contains":"rum"}}')}`)).toEqual([
    'Bob likes rum',
  ]);
  expect(await texts('run_id=r2')).toEqual([]);
});

test('without an id there is nothing to list', async () => {
  const { get } = await bench();
  expect(await get('/v1/ids/memories')).toMatchObject({
    status: 400,
    detail: expect.stringContaining('expected at least one of agent_id, run_id, app_id'),
  });
});

test('ids that nobody may send any more, and that are stored, are listed', async () => {
  const { app, remember } = await searchBench();
  const odd = ['a\u0000b', ' ', '\ud800', 'x'.repeat(300)];
  for (const id of odd) await remember('Cyd likes tea', { user_id: id, run_id: id });
  const [users, ids] = await Promise.all(['/v1/users', '/v1/ids'].map((url) => app.inject(url)));
  expect([users?.statusCode, ids?.statusCode]).toEqual([200, 200]);
  const shown = (text: string | undefined) =>
    JSON.parse(text ?? '')
      .results.map(({ id }: { id: string }) => id)
      .sort();
  expect([shown(users?.body), shown(ids?.body)]).toEqual([odd.sort(), odd]);
});
