import { type App, type KeyCheck, needScope, type Routes } from '@slowwave/http';
import { testShell } from '@slowwave/http/testing';
import { expect, test } from 'vitest';
import type { Ask } from './ask.ts';
import { severalMemories } from './memories.ts';
import { listMemories } from './search.ts';

const SOME = 1_000;
/** What a key that may send one request a second has made up for by then: less than in this many seconds. */
const SOON_S = 900;

const keys: KeyCheck = {
  any: async () => true,
  check: async (keyId) => ({
    kind: 'taken',
    principal: { keyId, tenant: 'acme', scopes: ['manage'], userId: null, appId: null },
  }),
};

/** mem0's routes with a rate; every list has so many pages. */
async function bench(pages: number) {
  let page = 0;
  const ask: Ask = async <Answer>() => {
    page += 1;
    return { results: [], next_cursor: page % pages === 0 ? null : 'next' } as Answer;
  };
  const { app } = await testShell({ auth: { apiKey: null, keys }, keyRate: 1 });
  needScope(app, 'any');
  const mem0: Routes = async (rooms) => {
    severalMemories(rooms as App, ask);
    listMemories(rooms as App, ask);
  };
  await app.register(mem0, { prefix: '/mem0' });
  return (method: 'PUT' | 'DELETE' | 'POST', url: string, payload: object) =>
    app.inject({ method, url, payload, headers: { authorization: 'Bearer one' } });
}

const memories = Array.from({ length: SOME }, (_, i) => ({ memory_id: `mem_${i}` }));
const changes = { memories: memories.map((one) => ({ ...one, text: 'Tea' })) };
const filters = { user_id: 'ann' };

test.each([
  { of: 'changes of several memories', method: 'PUT', url: '/mem0/v1/batch', payload: changes },
  { of: 'deletions of several memories', method: 'DELETE', url: '/mem0/v1/batch', payload: { memories } },
  { of: 'the pages of a list', method: 'POST', url: '/mem0/v3/memories', payload: { filters } },
] as const)('$of count as many requests of the key as there are', async ({ method, url, payload }) => {
  const send = await bench(SOME);
  const done = await send(method, url, payload);
  expect([done.statusCode, done.headers['ratelimit-remaining']]).toEqual([200, '0']);
  const refused = await send(method, url, payload);
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(SOON_S);
});
