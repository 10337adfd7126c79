import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const STATIC = 'the-key-of-the-operator';
const message = { user_id: 'ann', messages: [{ role: 'user', content: 'home: Berlin' }] };

async function bench() {
  const ceilings = { tokensPerDay: 2_000_000, costPerDay: null };
  const { app, engine } = await consoleBench({ apiKey: STATIC, audited: true, ceilings });
  const ask = async (key: string, line: string, payload?: object) => {
    const [method = 'GET', url = ''] = line.split(' ');
    const headers = { authorization: `Bearer ${key}` };
    const answer = await app.inject({ method: method as 'GET', url, headers, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.json() };
  };
  const made = await ask(STATIC, 'POST /v1/keys', { name: 'k', scopes: ['admin'], tenant: 'acme' });
  return { ask, acme: made.body.secret as string, engine };
}

test('an operator sets what a tenant may use, and has what holds for all count again', async () => {
  const { ask } = await bench();
  const path = '/v1/tenants/acme/ceilings';
  const all = { tenant: 'acme', tokens_per_day: 2_000_000, cost_per_day: null, own: false };
  expect((await ask(STATIC, `GET ${path}`)).body).toEqual(all);
  const own = { tenant: 'acme', tokens_per_day: null, cost_per_day: 2.5, own: true };
  expect((await ask(STATIC, `PUT ${path}`, { cost_per_day: 2.5 })).body).toEqual(own);
  expect((await ask(STATIC, `GET ${path}`)).body).toEqual(own);
  expect((await ask(STATIC, `DELETE ${path}`)).body).toEqual(all);
  for (const wrong of [{ tokens_per_day: -1 }, { tokens: 5 }, { cost_per_day: 'much' }]) {
    expect((await ask(STATIC, `PUT ${path}`, wrong)).status).toBe(400);
  }
  expect((await ask(STATIC, 'GET /v1/tenants/Not%20a%20tenant/ceilings')).status).toBe(400);
});

test('a tenant neither changes it nor lifts it by settings of its own', async () => {
  const { ask, acme } = await bench();
  for (const line of ['GET', 'PUT', 'DELETE'].map((method) => `${method} /v1/tenants/acme/ceilings`)) {
    expect((await ask(acme, line, line.startsWith('PUT') ? {} : undefined)).body.code).toBe('scope_missing');
  }
  await ask(STATIC, 'PUT /v1/tenants/acme/ceilings', { tokens_per_day: 1 });
  expect((await ask(acme, 'POST /v1/consolidations/preview', message)).status).toBe(200);
  const generous = { budgets: { tokens_per_day: 1_000_000 }, prices: { scripted: { prompt: 0, completion: 0 } } };
  for (const settings of [{}, generous]) {
    expect((await ask(acme, 'PUT /v1/settings', settings)).status).toBe(200);
    const refused = await ask(acme, 'POST /v1/consolidations/preview', message);
    expect(refused).toMatchObject({
      status: 402,
      body: { code: 'budget_exhausted', detail: expect.stringContaining("the operator's limit for this tenant") },
    });
  }
});
