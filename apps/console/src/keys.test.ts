import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

test('the first key of an open server has to be one that can make others', async () => {
  const { send, engine } = await consoleBench();
  const narrow = [
    { name: 'chat', scopes: ['ingest', 'search', 'manage'] },
    { name: 'acme', scopes: ['admin'], tenant: 'acme' },
    { name: 'ann', scopes: ['search'], user_id: 'ann' },
  ];
  for (const body of narrow) {
    const refused = await send('POST', '/v1/keys', body);
    expect(refused.statusCode).toBe(409);
    expect(refused.json()).toMatchObject({ code: 'conflict', detail: expect.stringContaining('--scopes admin') });
  }
  expect(await engine.deps.ledger.keys.any()).toBe(false);
  expect((await send('POST', '/v1/keys', { name: 'operator', scopes: ['admin'] })).statusCode).toBe(201);
  for (const body of narrow) expect((await send('POST', '/v1/keys', body)).statusCode).toBe(201);
});

test('with a key of the operator’s own the first key may be any', async () => {
  const { app } = await consoleBench({ apiKey: 'a-key-of-enough-letters' });
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/keys',
    headers: { authorization: 'Bearer a-key-of-enough-letters' },
    payload: { name: 'chat', scopes: ['ingest'] },
  });
  expect(answer.statusCode).toBe(201);
});
