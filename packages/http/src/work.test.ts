import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { type KeyCheck, needScope } from './access.ts';
import { WORK } from './limits.ts';
import type { App } from './shell.ts';
import { testShell } from './testing.ts';

const closing: App[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

const RATE = 1_000;
const keys: KeyCheck = {
  any: async () => true,
  check: async (keyId) => ({
    kind: 'taken',
    principal: { keyId, tenant: 'acme', scopes: ['manage'], userId: null, appId: null },
  }),
};

/** A key sends this body to a route that answers so. */
async function bench(route: string, { rate, answer }: { rate: number; answer: () => unknown }) {
  const { app } = await testShell({ auth: { apiKey: null, keys }, keyRate: rate });
  closing.push(app);
  needScope(app, 'any');
  const [method = '', url = ''] = route.split(' ');
  app.route({ method, url, handler: async (_request, reply) => reply.send(answer()) });
  return (body?: object) =>
    app.inject({
      method: method as 'POST',
      url: url.replaceAll(/:\w+/gu, 'x'),
      headers: { authorization: 'Bearer one' },
      ...(body !== undefined && { payload: body }),
    });
}

/** How many requests it counts as. */
async function counts(route: string, { body, answer }: { body?: object; answer?: object }): Promise<number> {
  const send = await bench(route, { rate: RATE, answer: () => answer ?? {} });
  const { statusCode, headers } = await send(body);
  expect(statusCode).toBe(200);
  return 2 * RATE - Number(headers['ratelimit-remaining']);
}

const many = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i) }));

test.each([
  ['POST /v1/batches', { messages: many(50) }, 1],
  ['POST /v1/batches', { messages: many(2_000) }, 10],
  ['POST /mem0/v3/memories/add', { messages: many(2_000) }, 10],
  ['POST /mem0/v1/memories', { messages: many(2_000) }, 10],
  ['POST /mem0/memories', { messages: many(401) }, 3],
  ['POST /v1/consolidations/preview', { messages: many(2_000) }, 10],
  ['PUT /mem0/v1/batch', { memories: many(300) }, 300],
  ['DELETE /mem0/v1/batch', { memories: many(300) }, 300],
  ['POST /v1/replays', { filter: { batch_ids: many(300) } }, 300],
  ['POST /v1/replays', { filter: { user_id: 'ann' } }, 1],
  ['POST /v1/search', { query: 'And hers?', messages: many(2), rewrite: true }, 2],
  ['POST /v1/search', { query: 'And hers?' }, 1],
  ['POST /v1/context', { messages: many(2), rewrite: true }, 2],
  ['POST /v1/context', { messages: many(50), rewrite: false }, 1],
  ['POST /v1/settings', { messages: 'none', memories: null }, 1],
])('%s counts by what is sent', async (route, body, requests) => {
  expect(await counts(route, { body })).toBe(requests);
});

test.each([
  ['DELETE /v1/memories', { deleted: 900 }, 900],
  ['DELETE /v1/memories', { deleted: 0 }, 1],
  ['POST /v1/webhooks/:id/deliveries/replay', { replayed: 900 }, 5],
  ['POST /v1/consolidations/:id/undo', { changed: 40 }, 40],
  ['POST /v1/undos/:id/redo', { changed: 40 }, 40],
  ['POST /v1/users/:id/rollback', { changed: 700 }, 700],
  ['POST /v1/recall', { trail: many(7) }, 7],
  ['GET /v1/graph', { entities: many(3), relations: many(1_000) }, 5],
  ['GET /v1/memories', { results: many(200) }, 1],
  ['GET /v1/memories/:id/sources', { results: many(1_000) }, 5],
  ['POST /v1/search', { results: many(100).map((one) => ({ ...one, sources: many(40), history: many(9) })) }, 25],
])('%s counts by what was done', async (route, answer, requests) => {
  expect(await counts(route, { answer })).toBe(requests);
});

test('an export counts while it is read', async () => {
  const lines = Array.from({ length: 2_000 }, (_, i) => `${i}\n`);
  const send = await bench('GET /v1/users/:id/export', { rate: 1, answer: () => Readable.from(lines) });
  expect((await send()).body).toBe(lines.join(''));
  const refused = await send();
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '10']);
});

test('of every route in the table something is counted', () => {
  for (const { sent, done } of Object.values(WORK)) expect(sent ?? done).toBeTypeOf('function');
});
