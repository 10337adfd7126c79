import { DEFAULT_TENANT, type NewTrailEntry, type TenantId } from '@slowwave/engine';
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

const STATIC = 'the-key-of-the-operator';

/** Asks as whoever has these keys, and reads the audit log after that. */
async function audited() {
  const { app, engine, written } = await consoleBench({ apiKey: STATIC, audited: true });
  const ask = async (key: string, line: string, payload?: object) => {
    const [method = 'GET', url = ''] = line.split(' ');
    const headers = { authorization: `Bearer ${key}` };
    engine.tools.advance(1_000);
    const answer = await app.inject({ method: method as 'GET', url, headers, ...(payload && { payload }) });
    await written();
    return { status: answer.statusCode, body: answer.json() };
  };
  const make = async (given: object): Promise<{ id: string; secret: string }> =>
    (await ask(STATIC, 'POST /v1/keys', { name: 'k', scopes: ['admin'], ...given })).body;
  const log = async (key: string, query = '') => (await ask(key, `GET /v1/audit${query}`)).body;
  return { ask, make, log, engine };
}

test('an admin sees who did what in the own tenant, and an operator in any', async () => {
  const { ask, make, log } = await audited();
  const acme = await make({ tenant: 'acme' });
  const other = await make({ tenant: 'other' });
  await ask(acme.secret, 'DELETE /v1/users/ann');
  await ask(other.secret, 'DELETE /v1/users/bob');
  const { results } = await log(acme.secret);
  expect(results).toMatchObject([
    { by: acme.id, tenant: 'acme', action: 'DELETE /v1/users/{id}', subject: { kind: 'erasure' }, outcome: 'done' },
  ]);
  expect(results[0]).toMatchObject({
    at: expect.stringContaining('2026-03-01T09:00:0'),
    status: 202,
    code: null,
    session: false,
  });
  expect((await ask(acme.secret, 'GET /v1/audit?tenant=other')).body.code).toBe('scope_missing');
  expect((await log(STATIC, '?tenant=other')).results).toMatchObject([{ by: other.id }]);
  const own = (await log(STATIC, '?action=POST%20/v1/keys')).results;
  expect(own.map(({ by, subject }: { by: string; subject: object }) => [by, subject])).toEqual([
    ['operator', { kind: 'key', id: other.id }],
    ['operator', { kind: 'key', id: acme.id }],
  ]);
});

test('what only asked what it would do is told apart from what was done', async () => {
  const { ask, make, log } = await audited();
  const acme = await make({ tenant: 'acme' });
  const { body: made } = await ask(acme.secret, 'POST /v1/memories', { user_id: 'ann', memory: 'Has a cat' });
  for (const query of ['?dry_run=true', '?dry_run=false', ''])
    await ask(acme.secret, `DELETE /v1/memories/${made.id}${query}`);
  await ask(acme.secret, 'POST /v1/users/ann/rollback', { to: '2026-03-01T00:00:00Z', dry_run: true });
  const { results } = await log(acme.secret);
  expect(results.map(({ action }: { action: string }) => action)).toEqual([
    'POST /v1/users/{id}/rollback?dry_run=true',
    'DELETE /v1/memories/{id}',
    'DELETE /v1/memories/{id}',
    'DELETE /v1/memories/{id}?dry_run=true',
    'POST /v1/memories',
  ]);
  const dry = encodeURIComponent('DELETE /v1/memories/{id}?dry_run=true');
  expect((await log(acme.secret, `?action=${dry}`)).results).toHaveLength(1);
});

test('what is polled to see how the models are doing is listed only if it is refused', async () => {
  const { ask, make, log } = await audited();
  const acme = await make({ tenant: 'acme' });
  for (const path of ['/v1/models', '/v1/doctor']) {
    expect((await ask(STATIC, `GET ${path}`)).status).toBe(200);
    expect((await ask(acme.secret, `GET ${path}`)).status).toBe(403);
  }
  expect((await log(STATIC, '?action=GET%20/v1/models')).results).toEqual([]);
  expect((await log(acme.secret)).results).toMatchObject([{ action: 'GET /v1/doctor' }, { action: 'GET /v1/models' }]);
});

test('who erased which agent or run is told of the erasure alone, and who was not let, of which', async () => {
  const { ask, make, log, engine } = await audited();
  const acme = await make({ tenant: 'acme' });
  const anns = await make({ tenant: 'acme', scopes: ['manage'], user_id: 'ann' });
  const shops = await make({ tenant: 'acme', scopes: ['manage'], app_id: 'shop' });
  for (const kind of ['agent', 'run']) {
    for (const key of [anns, shops]) {
      const refused = await ask(key.secret, `DELETE /v1/${kind}s/ann`);
      expect(refused).toMatchObject({ status: 403, body: { code: 'key_bound' } });
    }
    const subject = { kind, id: 'ann' };
    expect((await log(acme.secret, '?subject=ann&limit=2')).results).toMatchObject([{ subject }, { subject }]);
    const { body } = await ask(acme.secret, `DELETE /v1/${kind}s/ann`);
    await engine.deps.ledger.trail.forgetOwner(body.erasure_id, 100);
    expect((await log(acme.secret, '?subject=ann')).results).toEqual([]);
    expect((await log(acme.secret, `?subject=${body.erasure_id}`)).results).toHaveLength(3);
  }
});

test('what is refused shows up without a secret, under the id of the key where it is known', async () => {
  const { ask, make, log } = await audited();
  const acme = await make({ tenant: 'acme' });
  const reader = await make({ tenant: 'acme', scopes: ['search'] });
  await ask(reader.secret, 'GET /v1/settings');
  await ask(STATIC, `DELETE /v1/keys/${reader.id}?tenant=acme`);
  const wrong = reader.secret.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
  await ask(wrong, 'GET /v1/settings');
  const { results } = await log(acme.secret, '?outcome=refused');
  expect(results).toMatchObject([{ by: reader.id, action: 'GET /v1/settings', code: 'scope_missing', status: 403 }]);
  const nobody = (await log(STATIC, '?by=nobody')).results;
  expect(nobody).toMatchObject([{ action: 'GET /v1/settings', code: 'unauthorized', subject: null }]);
  expect(JSON.stringify([results, nobody])).not.toMatch(/sw_|operator/);
});

test('it is read page by page and by what is looked for; what is misspelt is refused', async () => {
  const { ask, log, engine } = await audited();
  const { trail } = engine.deps.ledger;
  const at = engine.tools.now();
  const entry = (i: number): NewTrailEntry => ({
    ...{ id: `aud_${i}`, tenant: DEFAULT_TENANT, at: at + i, by: 'key_1', session: false, action: 'POST /v1/batches' },
    ...{ subject: { kind: 'user', id: `user-${i}` }, status: i, code: null, requestId: null, ownerHash: null },
  });
  await trail.append([200, 401, 503].map(entry));
  await trail.append([{ ...entry(200), tenant: 'other' as TenantId }]);
  const first = await log(STATIC, '?by=key_1&limit=2');
  expect(first.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['failed', 'refused']);
  const second = await log(STATIC, `?by=key_1&limit=2&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ results: [{ outcome: 'done', subject: { kind: 'user' } }], next_cursor: null });
  expect((await log(STATIC, '?subject=user-401')).results).toHaveLength(1);
  const span = `?by=key_1&since=${new Date(at + 401).toISOString()}&until=${new Date(at + 503).toISOString()}`;
  expect((await log(STATIC, span)).results).toMatchObject([{ status: 401 }]);
  for (const query of ['?key=key_1', '?outcome=good', '?cursor=x', '?since=yesterday']) {
    expect([query, (await ask(STATIC, `GET /v1/audit${query}`)).status]).toEqual([query, 400]);
  }
});
