import { DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const hook = { url: 'https://receiver.example/hook', events: ['memory.added', 'memory.added'], name: ' crm ' };

test('a webhook is made with a secret that is told once, listed, changed and removed', async () => {
  const { app, send } = await consoleBench();
  const made = await send('POST', '/v1/webhooks', hook);
  expect(made.statusCode).toBe(201);
  const { secret, ...webhook } = made.json();
  expect(secret).toMatch(/^whsec_[\w-]{43}$/);
  expect(webhook).toMatchObject({ name: 'crm', events: ['memory.added'], active: true, failures: 0 });
  const at = `/v1/webhooks/${webhook.id}`;
  expect((await app.inject(at)).json()).toEqual(webhook);
  expect((await app.inject('/v1/webhooks')).json()).toEqual({ results: [webhook], next_cursor: null });
  const changed = (await send('PATCH', at, { active: false, user_id: 'ann' })).json();
  expect(changed).toMatchObject({ active: false, user_id: 'ann', url: hook.url, previous_secret_until: null });
  expect(changed.secret).toBeUndefined();
  expect((await send('DELETE', at)).json()).toMatchObject({ id: webhook.id });
  expect((await app.inject(at)).statusCode).toBe(404);
});

test('a replaced secret signs as well for a while', async () => {
  const { engine, send } = await consoleBench();
  const made = (await send('POST', '/v1/webhooks', { ...hook, secret: 'one-that-i-know-0' })).json();
  const rotated = (await send('PATCH', `/v1/webhooks/${made.id}`, { rotate_secret: true })).json();
  expect(rotated.secret).toMatch(/^whsec_/);
  const stored = await engine.deps.ledger.webhooks.get(DEFAULT_TENANT, made.id);
  expect(stored?.previous?.secret).toBe('one-that-i-know-0');
  expect(rotated.previous_secret_until).not.toBeNull();
  const both = { secret: 'another-i-know-00', rotate_secret: true };
  expect((await send('PATCH', `/v1/webhooks/${made.id}`, both)).statusCode).toBe(400);
});

test.each(['http://receiver.example/', 'https://10.0.0.1/', 'https://127.1:80/x/', 'https://[::1]/', 'ftp://x/', 'x'])(
  '%s is no place to send anything, but for what the operator lists',
  async (url) => {
    const { send } = await consoleBench();
    const answer = await send('POST', '/v1/webhooks', { ...hook, url });
    const listed = url.includes('127.1');
    expect([url, answer.statusCode]).toEqual([url, listed ? 201 : 400]);
    if (!listed) expect(answer.json().errors[0].path).toBe('url');
  },
);

test('what it is sent is listed; what has not ended is not replayed', async () => {
  const { app, send } = await consoleBench();
  const { id } = (await send('POST', '/v1/webhooks', hook)).json();
  await send('POST', '/v1/memories', { user_id: 'ann', memory: 'Lives in Oslo' });
  const { results } = (await app.inject(`/v1/webhooks/${id}/deliveries`)).json();
  expect(results).toMatchObject([
    { state: 'waiting', attempts: 0, body: { type: 'memory.added', data: { after: 'Lives in Oslo', before: null } } },
  ]);
  expect((await send('POST', `/v1/webhooks/${id}/deliveries/${results[0].id}/replay`)).statusCode).toBe(404);
  expect((await send('POST', `/v1/webhooks/${id}/deliveries/replay`)).json()).toEqual({ replayed: 0 });
  expect((await app.inject('/v1/webhooks/none/deliveries')).statusCode).toBe(404);
});

test('a tenant has only so many', async () => {
  const { send } = await consoleBench();
  const codes: number[] = [];
  for (let i = 0; i < 21; i += 1) codes.push((await send('POST', '/v1/webhooks', hook)).statusCode);
  expect(codes).toEqual([...Array.from({ length: 20 }, () => 201), 409]);
  expect((await send('POST', '/v1/webhooks', hook)).json()).toMatchObject({ code: 'conflict' });
});
