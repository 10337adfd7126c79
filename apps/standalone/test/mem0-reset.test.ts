import { afterAll, expect, test } from 'vitest';
import { call, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

/** mem0's reset: off unless the operator allows it, and for admins alone. */

const OPERATOR = 'the-key-of-the-operator';
const setups: Setup[] = [];
afterAll(() => Promise.all(setups.map((setup) => setup.close())));

async function server(env: Readonly<Record<string, string>>) {
  const setup = await standalone({ SLOWWAVE_API_KEY: OPERATOR, ...env });
  setups.push(setup);
  const as = (secret: string) => (method: string, path: string, body?: object) =>
    call(method, `${setup.console}${path}`, { ...(body && { body }), headers: { authorization: `Bearer ${secret}` } });
  const operator = as(OPERATOR);
  const key = async (given: object) =>
    as((await operator('POST', '/v1/keys', { name: 'k', ...given })).body.secret as string);
  return { operator, key };
}

test('a reset is refused as long as the operator has not turned it on', async () => {
  const { operator } = await server({});
  await operator('POST', '/v1/batches?wait=60000', { ...said('ann', 'I live in Oslo'), flush: true });
  expect(await operator('POST', '/mem0/reset')).toMatchObject({
    status: 422,
    body: { error: expect.stringContaining('SLOWWAVE_MEM0_RESET') },
  });
  expect((await operator('GET', '/v1/users')).body.results).toHaveLength(1);
});

test('an admin erases everybody of their tenant, one by one, and nobody else may', async () => {
  const { operator, key } = await server({ SLOWWAVE_MEM0_RESET: 'true' });
  const acme = await key({ tenant: 'acme', scopes: ['admin'] });
  const manager = await key({ tenant: 'acme', scopes: ['ingest', 'search', 'manage'] });
  for (const owner of [{ user_id: 'ann' }, { agent_id: 'bot' }, { run_id: 'r/1' }]) {
    const batch = { ...owner, messages: [{ role: 'user', content: 'I live in Oslo' }], flush: true };
    for (const ask of [acme, operator]) expect((await ask('POST', '/v1/batches?wait=60000', batch)).status).toBe(200);
  }
  expect(await manager('POST', '/mem0/reset')).toMatchObject({ status: 403, body: { code: 'scope_missing' } });
  expect((await acme('GET', '/v1/users')).body.results).toHaveLength(3);
  expect(await acme('POST', '/mem0/reset')).toMatchObject({
    status: 200,
    body: { message: expect.stringContaining('3 users, agents and runs') },
  });
  expect((await acme('GET', '/v1/users')).body.results).toEqual([]);
  expect((await operator('GET', '/v1/users')).body.results).toHaveLength(3);
  const erasures = async () => {
    const { results } = (await acme('GET', '/v1/audit?limit=200')).body;
    return results.filter(({ action }: { readonly action: string }) => /^DELETE \/v1\/(user|agent|run)s/.test(action));
  };
  await expect.poll(async () => (await erasures()).length).toBe(3);
});
