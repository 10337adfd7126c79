import { afterEach, expect, test } from 'vitest';
import { type KeyCheck, needScope } from './access.ts';
import { countMore, registerRateLimit } from './limits.ts';
import type { App } from './shell.ts';
import { testShell } from './testing.ts';

const closing: App[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

const keys: KeyCheck = {
  any: async () => true,
  check: async (keyId) => ({
    kind: 'taken',
    principal: { keyId, tenant: 'acme', scopes: ['search'], userId: null, appId: null },
  }),
};

async function start(keyRate: number | null) {
  const { app } = await testShell({ auth: { apiKey: 'a-long-secret', keys }, keyRate });
  closing.push(app);
  needScope(app, 'search');
  app.get('/v1/notes', async () => ({ notes: [] }));
  app.get('/v1/many', async (request) => {
    countMore(request, 3);
    return { notes: [] };
  });
  return (key: string, url = '/v1/notes') => app.inject({ url, headers: { authorization: `Bearer ${key}` } });
}

test('a key that sends too much is told to wait, and others are not', async () => {
  const get = await start(1);
  const first = await get('one');
  expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '1' });
  await get('one');
  const refused = await get('one');
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json()).toMatchObject({
    code: 'too_many_requests',
    detail: expect.stringContaining('1 requests per second'),
  });
  expect((await get('other')).statusCode).toBe(200);
});

test('what was used up comes back with time', async () => {
  const get = await start(20);
  const answers = await Promise.all(Array.from({ length: 50 }, () => get('one')));
  expect(answers.filter(({ statusCode }) => statusCode === 429).length).toBeGreaterThan(0);
  await expect.poll(async () => (await get('one')).statusCode).toBe(200);
});

test('a key that was idle may send the burst of two seconds, however long it was idle', async () => {
  const { app } = await testShell({ auth: { apiKey: 'a-long-secret', keys }, keyRate: null });
  closing.push(app);
  let now = 0;
  registerRateLimit(app, 2, () => now);
  needScope(app, 'search');
  app.get('/v1/notes', async () => ({ notes: [] }));
  const get = () => app.inject({ url: '/v1/notes', headers: { authorization: 'Bearer one' } });
  expect((await get()).headers['ratelimit-remaining']).toBe('3');
  now += 86_400_000;
  for (const left of ['3', '2', '1', '0']) expect((await get()).headers['ratelimit-remaining']).toBe(left);
  expect((await get()).statusCode).toBe(429);
  now += 500;
  expect((await get()).statusCode).toBe(200);
});

test('the operator is not limited, nor anybody where no rate is set', async () => {
  const limited = await start(1);
  const free = await start(null);
  for (let i = 0; i < 5; i += 1) {
    expect((await limited('a-long-secret')).statusCode).toBe(200);
    expect((await free('one')).statusCode).toBe(200);
  }
});

test('a request that is the work of four counts as four, and is answered even where fewer are left', async () => {
  const get = await start(1);
  const answer = await get('one', '/v1/many');
  expect([answer.statusCode, answer.headers['ratelimit-remaining']]).toEqual([200, '0']);
  const refused = await get('one');
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '3']);
  expect((await get('other')).statusCode).toBe(200);
});

test('where no rate is set, and for the operator, such a request counts nothing', async () => {
  const limited = await start(1);
  const free = await start(null);
  for (let i = 0; i < 3; i += 1) {
    expect((await limited('a-long-secret', '/v1/many')).statusCode).toBe(200);
    expect((await free('one', '/v1/many')).statusCode).toBe(200);
  }
});
