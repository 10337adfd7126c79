import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, call } from './client.ts';
import { mem0Requests, mem0RouteNames, sampledRoutes } from './mem0-routes.ts';
import { type Setup, standalone } from './setups.ts';

/** Every route under /mem0, with every kind of key, about what is not for it. */

const OPERATOR = 'the-key-of-the-operator';
const WITHIN = { timeout: 120_000 };
const EVERYTHING = ['ingest', 'search', 'manage'];

type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

let setup: Setup;
let operator: Ask;
/** An admin of the tenant in which all of it was said. */
let admin: Ask;
let meant: { memory: string; batch: string; webhook: string };

const as =
  (secret: string): Ask =>
  (method, path, body) =>
    call(method, `${setup.console}${path}`, { ...(body && { body }), headers: { authorization: `Bearer ${secret}` } });

const keyOf = async (given: object): Promise<Ask> =>
  as((await operator('POST', '/v1/keys', { name: 'k', tenant: 'ours', ...given })).body.secret);

beforeAll(async () => {
  setup = await standalone({ SLOWWAVE_API_KEY: OPERATOR, SLOWWAVE_MEM0_RESET: 'true' });
  operator = as(OPERATOR);
  admin = await keyOf({ scopes: ['admin'] });
  const say = async (ids: object, content: string) => {
    const body = { ...ids, messages: [{ role: 'user', content }], flush: true };
    return (await admin('POST', '/v1/batches?wait=60000', body)).body;
  };
  const bobs = await say({ user_id: 'bob', agent_id: 'bot', run_id: 'r1', app_id: 'bank' }, 'I live in Zanzibar');
  await say({ user_id: 'carl', run_id: 'r1', app_id: 'bank' }, 'I live in Timbuktu');
  await say({ agent_id: 'bot' }, 'I live in Samarkand');
  await say({ run_id: 'r1' }, 'I live in Zanzibar');
  await say({ user_id: 'ann', app_id: 'shop' }, 'I live in Oslo');
  const hook = { name: 'theirs', url: 'https://hook.example/', events: ['memory.added'] };
  const { id } = (await admin('POST', '/v1/webhooks', hook)).body;
  meant = { memory: bobs.events[0].memory_id, batch: bobs.id, webhook: id };
});
afterAll(() => setup.close());

/** What only others were told, or are called: nobody names them in a request. */
const FOREIGN = /Zanzibar|Timbuktu|Samarkand|carl|hook\.example/;

/** Ids under which something foreign is. */
const WHOSE: readonly Readonly<Record<string, string>>[] = [
  { user_id: 'bob' },
  { agent_id: 'bot' },
  { run_id: 'r1' },
  { app_id: 'bank' },
  { user_id: '*' },
  { agent_id: '*' },
  { run_id: '*' },
  { app_id: '*' },
  { user_id: 'ann', app_id: 'bank' },
  { agent_id: 'bot', run_id: 'r1' },
];

/** Everything that is foreign, and the settings of the tenant. */
async function foreign(): Promise<unknown> {
  const paths = [
    '/v1/memories?user_id=bob',
    '/v1/memories?user_id=carl',
    '/v1/memories?agent_id=bot',
    '/v1/memories?run_id=r1',
    `/v1/memories/${meant.memory}/history`,
    '/v1/settings',
  ];
  const { results } = (await admin('GET', '/v1/webhooks')).body;
  const webhooks = results.map(({ id, name, url }: Readonly<Record<string, string>>) => [id, name, url]);
  return Promise.all([webhooks, ...paths.map(async (path) => [path, (await admin('GET', path)).body])]);
}

test('every route is among those that are tried', async () => {
  expect(sampledRoutes()).toEqual(await mem0RouteNames());
});

test.each([
  { key: 'for one user', given: { scopes: EVERYTHING, user_id: 'ann' } },
  { key: 'for one app', given: { scopes: EVERYTHING, app_id: 'shop' } },
  { key: 'for one user in one app', given: { scopes: EVERYTHING, user_id: 'ann', app_id: 'shop' } },
  { key: "of a person's own page", given: { scopes: ['subject'], user_id: 'ann' } },
  { key: 'of another tenant', given: { scopes: ['admin'], tenant: 'theirs' } },
])('a key $key finds and changes nothing foreign by any route', WITHIN, async ({ given }) => {
  const ask = await keyOf(given);
  const before = await foreign();
  for (const ids of WHOSE) {
    for (const { route, method, path, body } of mem0Requests({ ids, ...meant })) {
      const answer = await ask(method, `/mem0${path}`, body);
      const told = JSON.stringify(answer.body);
      expect([route, ids, told.match(FOREIGN)?.[0]]).toEqual([route, ids, undefined]);
      expect([route, ids, answer.status < 500]).toEqual([route, ids, true]);
    }
  }
  expect(await foreign()).toEqual(before);
});

test.each([
  { key: 'that only reads', given: { scopes: ['search'] } },
  { key: 'that only posts', given: { scopes: ['ingest'] } },
])('a key $key changes nothing of what is remembered by any route', WITHIN, async ({ given }) => {
  const ask = await keyOf(given);
  const before = await foreign();
  for (const ids of WHOSE.filter((one) => one.user_id === undefined || one.user_id === '*')) {
    for (const { route, method, path, body } of mem0Requests({ ids, ...meant })) {
      if (/ \/mem0\/(v1\/|v3\/)?memories(\/add)?$/.test(route) && method === 'POST') continue; // adds are theirs to make
      const answer = await ask(method, `/mem0${path}`, body);
      expect([route, ids, answer.status < 500]).toEqual([route, ids, true]);
    }
  }
  expect(await foreign()).toEqual(before);
});

test('a key that is bound is told why an id alone is not for it', async () => {
  const ask = await keyOf({ scopes: EVERYTHING, user_id: 'ann' });
  const deleted = await ask('DELETE', '/mem0/v1/memories/?run_id=r1');
  expect(deleted).toMatchObject({ status: 403, body: { error: expect.stringContaining('user_id "ann"') } });
});
