import type { KeyCheck } from '@slowwave/http';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

/** Keys that are called like the app they are for; "all" is for all apps. */
const keys: KeyCheck = {
  any: async () => true,
  check: async (text) => ({
    kind: 'taken',
    principal: {
      keyId: text,
      tenant: 'default',
      scopes: ['search'],
      userId: null,
      appId: text === 'all' ? null : text,
    },
  }),
};

interface Said {
  readonly runId?: string;
  readonly expiresAt?: number | null;
}

/** Ann told two apps where she lives, and one of them that she moved. A third one knows about her diet. */
async function bench() {
  const { app, engine } = await searchBench({ keys });
  const said = async (text: string, appId: string, { expiresAt = null, ...ids }: Said = {}) => {
    await engine.post([text], { scope: { appId, ...ids }, settings: { expiresAt } });
    await engine.run();
    engine.tools.advance(60_000);
  };
  await said('Ann lives in Oslo', 'shop', { runId: 'r1' });
  await said('Ann lives in Oslo', 'health', { runId: 'r2' });
  await said('Ann lives in Bergen', 'health', { runId: 'r3' });
  await said('Ann never eats nuts', 'diet');
  const [memory] = (await engine.memories()).filter(({ versions }) => versions.length === 2);
  const as = (key: string) => {
    const ids = key === 'all' ? {} : { app_id: key };
    const headers = { authorization: `Bearer ${key}` };
    const post = async (url: string, body: object) =>
      (await app.inject({ method: 'POST', url, headers, payload: { user_id: 'ann', ...ids, ...body } })).json();
    const get = async (path: string) => app.inject({ method: 'GET', url: `/v1/memories${path}`, headers });
    return {
      found: async (body: object = {}): Promise<string[]> => {
        const { results } = await post('/v1/search', {
          query: 'where does Ann live, in Oslo or Bergen?',
          cut: 'none',
          ...body,
        });
        return results.map(({ memory: text }: { memory: string }) => text).sort();
      },
      listed: async (query = ''): Promise<string[]> => {
        const app_id = key === 'all' ? '' : `&app_id=${key}`;
        const { results } = (await get(`?user_id=ann${app_id}${query}`)).json();
        return results.map(({ memory: text }: { memory: string }) => text).sort();
      },
      context: async (): Promise<string> => (await post('/v1/context', { query: 'where does Ann live?' })).text,
      one: (path = '') => get(`/${memory?.id}${path}`),
      post,
    };
  };
  return { as, engine, said };
}

test('a key for an app finds what the app was told last, another key what its app was told, a free one what holds', async () => {
  const { as } = await bench();
  expect(await as('shop').found()).toEqual(['Ann lives in Oslo']);
  expect(await as('health').found()).toEqual(['Ann lives in Bergen']);
  expect(await as('diet').found({ query: 'Ann lives in Oslo, and never eats nuts' })).toEqual(['Ann never eats nuts']);
  expect(await as('all').found({ app_id: 'shop' })).toEqual(['Ann lives in Bergen']);
  expect(await as('all').found({ filters: { app_id: { ne: 'health' } } })).toEqual(['Ann never eats nuts']);
  expect(await as('shop').found({ mode: 'keyword', timeout_ms: 10_000 })).toEqual(['Ann lives in Oslo']);
});

test('nothing that others were told is seen in any answer to it', async () => {
  const { as } = await bench();
  const shop = as('shop');
  expect(await shop.listed()).toEqual(['Ann lives in Oslo']);
  expect((await shop.one()).json()).toMatchObject({ memory: 'Ann lives in Oslo', app_id: 'shop', confirmations: 0 });
  expect((await shop.one()).json().invalid_at).toBeNull();
  expect((await shop.one('/history')).json().results).toMatchObject([{ event: 'ADD', memory: 'Ann lives in Oslo' }]);
  expect((await as('diet').one()).statusCode).toBe(404);
  expect(await shop.context()).toContain('Ann lives in Oslo');
  const everything = [
    await shop.post('/v1/search', { query: 'Ann', cut: 'none', include: ['history', 'sources', 'scores', 'messages'] }),
    await shop.post('/v1/search', { query: 'Bergen', cut: 'none', latest_only: false }),
    await shop.post('/v1/context', { query: 'Bergen', cut: 'none' }),
    await shop.post('/v1/recall', { query: 'does Ann live in Bergen?' }),
    (await shop.one()).json(),
    (await shop.one('/history')).json(),
  ];
  expect(JSON.stringify(everything).replaceAll('does Ann live in Bergen?', '')).not.toMatch(/Bergen|health|r2|r3/);
});

test('its filters are asked of what the app knows', async () => {
  const { as } = await bench();
  const shop = as('shop');
  expect(await shop.found({ run_id: 'r1' })).toEqual(['Ann lives in Oslo']);
  expect(await shop.found({ run_id: 'r2' })).toEqual([]);
  expect(await shop.found({ filters: { run_id: { ne: 'r3' } } })).toEqual(['Ann lives in Oslo']);
  expect(await shop.found({ filters: { confirmations: { gte: 1 } } })).toEqual([]);
  expect(await shop.listed('&run_id=r2')).toEqual([]);
  expect(await shop.listed(`&filters=${encodeURIComponent(JSON.stringify({ memory: { contains: 'Oslo' } }))}`)).toEqual(
    ['Ann lives in Oslo'],
  );
  expect(await as('all').listed(`&filters=${encodeURIComponent(JSON.stringify({ app_id: 'shop' }))}`)).toEqual([
    'Ann lives in Bergen',
  ]);
});

/** One more than the index has of one memory. */
const APPS = 33;

test('an app is found its memory also where more apps than the index has room for were told it since', async () => {
  const { as, said } = await bench();
  for (let i = 0; i < APPS; i += 1) await said('Ann lives in Bergen', `app${i}`);
  expect(await as('shop').found()).toEqual(['Ann lives in Oslo']);
  expect(await as('health').found()).toEqual(['Ann lives in Bergen']);
  expect(await as('all').found({ app_id: 'shop' })).toEqual(['Ann lives in Bergen']);
});

test('what another app was told until yesterday has not ended for an app that was told no end', async () => {
  const { as, engine, said } = await bench();
  await said('Ann lives in Rome', 'health', { expiresAt: engine.tools.now() + 30_000 });
  expect(await as('health').listed()).toEqual([]);
  expect(await as('shop').found()).toEqual(['Ann lives in Oslo']);
  expect(await as('shop').listed()).toEqual(['Ann lives in Oslo']);
});
