import { DEFAULT_TENANT, type Rating, rater, sweepOutbox } from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

async function bench() {
  const made = await searchBench();
  const { deps, tools } = made.engine;
  const rating = rater(deps);
  const rate = async (id: string, value: Rating | null) => {
    tools.advance(1_000);
    return rating.rate(DEFAULT_TENANT, id, { rating: value, reason: null, appId: null });
  };
  const found = async (query: string, more: object = {}) =>
    (await made.search({ user_id: 'ann', query, ...more })).json();
  const texts = async (query: string, more: object = {}): Promise<string[]> =>
    (await found(query, more)).results.map(({ memory }: { memory: string }) => memory);
  return { ...made, rate, found, texts };
}

const TEA = 'Which tea does Ann drink?';
const [green, black] = ['Ann drinks green tea', 'Ann drinks black tea'];

test('of two memories that answer alike the better rated comes first, and explain says why', async () => {
  const b = await bench();
  const [one, other] = [await b.remember(green), await b.remember(black)];
  const [first, second] = await b.texts(TEA);
  const [top, next] = first === green ? [one, other] : [other, one];
  await b.rate(top, 'very_negative');
  expect(await b.texts(TEA)).toEqual([second, first]);
  const { results } = await b.found(TEA, { explain: true });
  expect(results[1].explanation.boosts.feedback).toBeLessThan(-0.1);
  expect(results[0].explanation.boosts).not.toHaveProperty('feedback');
  await b.rate(top, null);
  expect(await b.texts(TEA)).toEqual([first, second]);
  await b.rate(next, 'positive');
  expect(await b.texts(TEA)).toEqual([second, first]);
});

test('a clear answer is found first however it is rated, and what does not answer is not found', async () => {
  const b = await bench();
  const id = await b.remember('Ann lives in Oslo');
  const others = ['Ann plays the violin', 'Ann bought red shoes', 'Ann fears spiders', 'Ann paints landscapes'];
  for (const text of others) await b.rate(await b.remember(text), 'positive');
  await b.rate(id, 'very_negative');
  const query = 'Where does Ann live?';
  expect(await b.texts(query)).toEqual(['Ann lives in Oslo']);
  expect((await b.texts(query, { cut: 'none' }))[0]).toBe('Ann lives in Oslo');
});

test('a rating moves nothing of another user', async () => {
  const b = await bench();
  const id = await b.remember(green);
  for (const text of [green, black]) await b.remember(text, { user_id: 'bob' });
  const bobs = async () => (await b.search({ user_id: 'bob', query: TEA, include: ['scores'] })).json().results;
  const before = await bobs();
  await b.rate(id, 'very_negative');
  expect(await bobs()).toEqual(before);
});

test('what answers led to counts as well, once it is in the index', async () => {
  const b = await bench();
  for (const text of [green, black]) await b.remember(text);
  const [first, second] = await b.texts(TEA);
  for (let i = 0; i < 5; i += 1) {
    const { receipt_id } = await b.found(second ?? '', { top_k: 1, cut: 'none' });
    const url = `/v1/receipts/${receipt_id}/outcome`;
    await expect
      .poll(async () => (await b.app.inject({ method: 'POST', url, payload: { outcome: 'good' } })).statusCode)
      .toBe(200);
  }
  expect(await b.texts(TEA)).toEqual([first, second]);
  await sweepOutbox(b.engine.deps, NEVER);
  expect(await b.texts(TEA)).toEqual([second, first]);
});

test('the history has ratings, and the memory the last one', async () => {
  const b = await bench();
  const id = await b.remember(green);
  await b.rate(id, 'negative');
  const get = async (path = '') => (await b.app.inject({ url: `/v1/memories/${id}${path}` })).json();
  expect(await get()).toMatchObject({ version: 1, feedback: 'negative' });
  const { results } = await get('/history');
  expect(results[1]).toMatchObject({
    event: 'FEEDBACK',
    version: 2,
    rated: { version: 1, rating: 'negative' },
    memory: null,
  });
  expect((await b.found(TEA, { include: ['history'] })).results[0].history).toHaveLength(2);
});
