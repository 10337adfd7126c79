import { DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A server that needs no key, so that whatever a link may not do is refused for the link’s sake alone. */
async function subjectsBench() {
  const bench = await consoleBench({ audited: true });
  const tools = bench.engine.tools;
  const as = (secret: string) => async (method: Method, url: string, payload?: object) => {
    const headers = { authorization: `Bearer ${secret}` };
    const answer = await bench.app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
    return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() };
  };
  const link = async (user = 'ann', body: object = {}) => {
    const answer = await bench.send('POST', `/v1/users/${user}/links`, body);
    expect(answer.statusCode).toBe(201);
    const { path, ...rest } = answer.json();
    return { secret: String(path).replace('/me#', ''), path, ...rest };
  };
  const open = async (secret: string) => as(secret)('POST', '/v1/session');
  const opened = async (user = 'ann', body: object = {}) => {
    const { status, body: answer } = await open((await link(user, body)).secret);
    expect(status).toBe(201);
    return { ask: as(answer.token), ...answer };
  };
  return { ...bench, tools, as, link, open, opened };
}

test('a link is opened once, and what it is exchanged for is the user’s own', async () => {
  const { link, open, as, tools } = await subjectsBench();
  const { secret, path, user_id, expires_at } = await link('ann', { valid_seconds: 7_200 });
  expect(path).toMatch(/^\/me#sw_lnk_[0-9a-z]+_[\w-]{43}$/);
  expect([user_id, Date.parse(expires_at)]).toEqual(['ann', tools.now() + 2 * HOUR]);
  const { status, body } = await open(secret);
  expect(status).toBe(201);
  expect(body).toMatchObject({ user_id: 'ann', scopes: ['subject'], operator: false, link_expires_at: expires_at });
  expect(Date.parse(body.token_expires_at)).toBe(tools.now() + 15 * MINUTE);
  expect((await as(body.token)('GET', '/v1/session')).body).toMatchObject({ user_id: 'ann', keyless: false });
  for (const again of [await open(secret), await as(secret)('GET', '/v1/users/ann/export')])
    expect(again).toMatchObject({
      status: 401,
      body: { code: 'link_opened', detail: expect.stringContaining('once') },
    });
  expect((await open(body.token)).status).toBe(409);
});

test('ten who open a link at the same moment are one who gets in', async () => {
  const { link, open } = await subjectsBench();
  const { secret } = await link();
  const answers = await Promise.all(Array.from({ length: 10 }, () => open(secret)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 401)]);
});

test('a link that is not opened yet opens nothing else', async () => {
  const { link, as } = await subjectsBench();
  const ask = as((await link()).secret);
  for (const route of ['GET /v1/users/ann/export', 'GET /v1/users/ann/pause', 'DELETE /v1/users/ann', 'GET /v1/keys']) {
    const [method = 'GET', url = ''] = route.split(' ');
    expect([route, (await ask(method as Method, url)).body.code]).toEqual([route, 'scope_missing']);
  }
  expect((await ask('POST', '/v1/session/renew')).status).toBe(401);
});

test('a token ends after a quarter of an hour, unless it is renewed, and with its link; nobody becomes somebody else then', async () => {
  const { opened, tools } = await subjectsBench();
  const { ask } = await opened();
  tools.advance(10 * MINUTE);
  const renewed = await ask('POST', '/v1/session/renew');
  expect(Date.parse(renewed.body.token_expires_at)).toBe(tools.now() + 15 * MINUTE);
  const other = await opened();
  tools.advance(15 * MINUTE);
  for (const { status, body } of [await other.ask('GET', '/v1/session'), await other.ask('POST', '/v1/session/renew')])
    expect([status, body.code, body.detail]).toEqual([401, 'unauthorized', expect.stringContaining('expired')]);
  const third = await opened('ann', { valid_seconds: 1_000 });
  tools.advance(14 * MINUTE);
  const last = await third.ask('POST', '/v1/session/renew');
  expect(last.body.token_expires_at).toBe(last.body.link_expires_at);
  tools.advance(3 * MINUTE);
  expect((await third.ask('GET', '/v1/session')).status).toBe(401);
  const short = await opened('ann', { valid_seconds: 60 });
  expect(short.token_expires_at).toBe(short.link_expires_at);
  tools.advance(MINUTE);
  expect((await short.ask('GET', '/v1/session')).status).toBe(401);
});

test('a link opens until it expires, and lives a week at most', async () => {
  const { link, open, send, tools } = await subjectsBench();
  const { secret } = await link('ann', { valid_seconds: 60 });
  tools.advance(MINUTE);
  expect((await open(secret)).body.detail).toContain('expired');
  for (const valid_seconds of [59, 7 * 86_400 + 1]) {
    expect((await send('POST', '/v1/users/ann/links', { valid_seconds })).statusCode).toBe(400);
  }
});

test('ending the links of a user ends those that are open and those that are not, and nobody else’s', async () => {
  const { link, open, opened, send } = await subjectsBench();
  const bobs = await opened('bob');
  const [page, waiting] = [await opened(), await link()];
  expect((await send('DELETE', '/v1/users/ann/links')).json()).toEqual({ ended: 2 });
  expect((await open(waiting.secret)).body).toMatchObject({
    code: 'unauthorized',
    detail: expect.stringContaining('ended'),
  });
  await expect.poll(async () => (await page.ask('GET', '/v1/session')).status).toBe(401);
  expect((await bobs.ask('GET', '/v1/session')).status).toBe(200);
});

test('whoever has a link corrects and forgets their own memories, and finds no others', async () => {
  const { engine, opened, app } = await subjectsBench();
  for (const [userId, text] of [
    ['ann', 'home: Berlin'],
    ['bob', 'home: Rome'],
  ] as const)
    await engine.post([text], { userId });
  await engine.run();
  const { ask } = await opened();
  const memories = await engine.deps.ledger.memories.every(null, 10);
  const idOf = (userId: string) => memories.find(({ scope }) => scope.userId === userId)?.id ?? '';
  const own = `/v1/memories/${idOf('ann')}`;
  expect((await ask('PATCH', own, { memory: 'home: Oslo' })).body).toMatchObject({ memory: 'home: Oslo' });
  expect((await ask('DELETE', `${own}?dry_run=true`)).body).toMatchObject({ deleted: 0, dry_run: true });
  expect((await ask('DELETE', own)).body).toMatchObject({ deleted: 1 });
  expect((await ask('POST', `${own}/restore`, { version: 2 })).body).toMatchObject({ memory: 'home: Oslo' });
  const foreign = `/v1/memories/${idOf('bob')}`;
  for (const [method, url, body] of [
    ['PATCH', foreign, { memory: 'home: Paris' }],
    ['DELETE', foreign],
    ['DELETE', `${foreign}?dry_run=true`],
    ['POST', `${foreign}/restore`, { version: 1 }],
  ] as const) {
    const answer = await ask(method, url, body);
    expect([url, answer.status]).toEqual([url, 404]);
    expect(JSON.stringify(answer.body)).not.toContain('Rome');
  }
  for (const url of ['/v1/users/bob/export', '/v1/users/bob/pause'])
    expect((await ask('GET', url)).body.code).toBe('key_bound');
  expect((await ask('DELETE', '/v1/users/bob')).body.code).toBe('key_bound');
  expect((await app.inject(`/v1/users/bob/export`)).body).toContain('Rome');
});

test('a key for one user with the scope manage changes that user’s memories by their ids, and no others', async () => {
  const { engine, as, send } = await subjectsBench();
  await engine.post(['home: Berlin'], { userId: 'ann' });
  await engine.post(['home: Rome'], { userId: 'bob' });
  await engine.run();
  const root = as((await send('POST', '/v1/keys', { name: 'root', scopes: ['admin'] })).json().secret);
  const { secret } = (await root('POST', '/v1/keys', { name: 'ann', scopes: ['manage'], user_id: 'ann' })).body;
  for (const scopes of [['subject'], ['subject', 'search']])
    expect((await root('POST', '/v1/keys', { name: 'nobody', scopes })).status).toBe(400);
  const memories = await engine.deps.ledger.memories.every(null, 10);
  for (const { id: memory, scope } of memories) {
    const { status } = await as(secret)('PATCH', `/v1/memories/${memory}`, { memory: 'home: Oslo' });
    expect([scope.userId, status]).toEqual([scope.userId, scope.userId === 'ann' ? 200 : 404]);
  }
});

test('erasing everything takes a link that was opened just now, and ends all links of the user', async () => {
  const { engine, opened, tools } = await subjectsBench();
  await engine.post(['home: Berlin']);
  await engine.run();
  const late = await opened();
  tools.advance(14 * MINUTE);
  await late.ask('POST', '/v1/session/renew');
  tools.advance(MINUTE);
  expect((await late.ask('DELETE', '/v1/users/ann')).body).toMatchObject({ status: 403, code: 'sign_in_again' });
  expect((await late.ask('GET', '/v1/session')).status).toBe(200);
  const fresh = await opened();
  expect((await fresh.ask('DELETE', '/v1/users/ann')).status).toBe(202);
  for (const { ask } of [fresh, late])
    await expect.poll(async () => (await ask('GET', '/v1/session')).status).toBe(401);
});

test('while remembering is paused nothing new is written, memories stay, and it can be resumed', async () => {
  const { engine, opened, send, batchState } = await subjectsBench();
  await engine.post(['home: Berlin']);
  await engine.run();
  const { ask } = await opened();
  expect((await ask('GET', '/v1/users/ann/pause')).body).toEqual({ user_id: 'ann', paused_at: null });
  const { paused_at } = (await ask('PUT', '/v1/users/ann/pause')).body;
  expect((await ask('PUT', '/v1/users/ann/pause')).body.paused_at).toBe(paused_at);
  const calls = async () => (await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).calls;
  const before = await calls();
  const during = await engine.post(['pet: a cat']);
  await engine.run();
  expect([await batchState(during), await calls()]).toEqual(['empty', before]);
  const texts = async () =>
    (await engine.deps.ledger.memories.every(null, 10)).map(({ versions }) => versions.at(-1)?.text);
  expect(await texts()).toEqual(['home: Berlin']);
  const written = await send('POST', '/v1/memories', { user_id: 'ann', memory: 'a secret' });
  expect([written.statusCode, written.json().code]).toEqual([409, 'paused']);
  expect((await send('POST', '/v1/memories', { user_id: 'bob', memory: 'of somebody else' })).statusCode).toBe(201);
  expect((await ask('DELETE', '/v1/users/ann/pause')).body.paused_at).toBeNull();
  await engine.post(['car: none']);
  await engine.run();
  expect((await texts()).sort()).toEqual(['car: none', 'home: Berlin', 'of somebody else']);
});

test('the audit log says who opened which link and for whom, and names no secret', async () => {
  const { link, open, app, written } = await subjectsBench();
  const { secret, id } = await link();
  await open(secret);
  await open(secret);
  await written();
  const { results } = (await app.inject('/v1/audit')).json();
  const told = results.map(({ action, by, subject, code }: Record<string, unknown>) => [action, by, subject, code]);
  expect(told).toEqual(
    expect.arrayContaining([
      ['POST /v1/users/{id}/links', 'loopback', { kind: 'user', id: 'ann' }, null],
      ['POST /v1/session', id, { kind: 'user', id: 'ann' }, null],
      ['POST /v1/session', id, null, 'link_opened'],
    ]),
  );
  expect(JSON.stringify(results)).not.toContain(secret);
});
