import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { problem } from './errors.ts';
import type { App, ShellOptions } from './shell.ts';
import { descriptionOf, testShell } from './testing.ts';

const Note = z.strictObject({ text: z.string().min(1), tags: z.union([z.string(), z.array(z.string())]).optional() });
const closing: App[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

async function start(given: Partial<ShellOptions> = {}) {
  const { app, lines } = await testShell(given);
  closing.push(app);
  app.post('/v1/notes', { schema: { body: Note } }, async () => ({ ok: true }));
  app.get('/v1/notes/:id', async () => ({ ok: true }));
  app.get('/v1/broken', async () => {
    throw new Error('password=secret in /etc/somewhere');
  });
  return { app, lines };
}

const invalid = { status: 400, code: 'invalid_request' };

test.each([
  { name: 'a body that is not JSON', payload: '{bad', told: { status: 400, code: 'invalid_json' } },
  { name: 'a prototype', payload: '{"text":"a","__proto__":{}}', told: { status: 400, code: 'invalid_json' } },
  { name: 'an empty body', payload: '', told: invalid },
  { name: 'null', payload: 'null', told: invalid },
  { name: 'an array', payload: '[]', told: invalid },
  { name: 'a wrong type', payload: '{"text":5}', told: invalid },
  { name: 'an unknown field', payload: '{"text":"a","more":1}', told: invalid },
  { name: 'very deep nesting', payload: `{"text":${'['.repeat(9_000)}${']'.repeat(9_000)}}`, told: invalid },
  {
    name: 'a form',
    payload: 'text=a',
    type: 'application/x-www-form-urlencoded',
    told: { status: 415, code: 'unsupported_media_type' },
  },
  {
    name: 'too large a body',
    payload: JSON.stringify({ text: 'a'.repeat(200_000) }),
    told: { status: 413, code: 'body_too_large' },
  },
])('$name is refused as the mistake it is', async ({ payload, type = 'application/json', told }) => {
  const { app } = await start();
  const headers = { 'content-type': type };
  const answer = await app.inject({ method: 'POST', url: '/v1/notes', payload, headers });
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.json()).toMatchObject({ ...told, instance: '/v1/notes' });
  expect(answer.statusCode).toBe(told.status);
});

test('a body without a content type is refused', async () => {
  const { app } = await start();
  const answer = await app.inject({ method: 'POST', url: '/v1/notes', payload: 'text' });
  expect(answer.json()).toMatchObject({ status: 415, code: 'unsupported_media_type' });
});

test.each([
  { method: 'GET', url: '/v1/nothing', told: { status: 404, code: 'route_not_found' } },
  { method: 'GET', url: '/v1/notes', told: { status: 405, code: 'method_not_allowed' } },
  { method: 'PUT', url: '/v1/notes/7', told: { status: 405, code: 'method_not_allowed' } },
  { method: 'GET', url: '/v1/notes/7?colour=red', told: invalid },
  { method: 'GET', url: '/v1/%zz', told: invalid },
  { method: 'GET', url: '/v1/known?user_id=%ED%A0%80', told: invalid },
] as const)('$method $url is refused as the mistake it is', async ({ method, url, told }) => {
  const { app } = await start();
  expect((await app.inject({ method, url })).json()).toMatchObject(told);
});

test('a wrong method is told the right ones', async () => {
  const { app } = await start();
  const answer = await app.inject({ method: 'DELETE', url: '/v1/notes/7' });
  expect(answer.headers.allow).toBe('GET, HEAD');
});

test('a failure inside says nothing of itself to the caller and everything to the log', async () => {
  const { app, lines } = await start();
  const answer = await app.inject('/v1/broken');
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toContain('secret');
  expect(lines[0]).toMatchObject({ level: 'error', fields: { request: answer.headers['x-request-id'] } });
});

test('a problem keeps its headers', async () => {
  const { app } = await start();
  app.get('/v1/busy', async () => {
    throw problem('too_many_requests', 'wait a little', { headers: { 'retry-after': '7' } });
  });
  const answer = await app.inject('/v1/busy');
  expect(answer.statusCode).toBe(429);
  expect(answer.headers['retry-after']).toBe('7');
});

test('a harmless request id of the caller is kept, any other replaced', async () => {
  const { app } = await start();
  const kept = await app.inject({ url: '/healthz', headers: { 'x-request-id': 'abc-1' } });
  const replaced = await app.inject({ url: '/healthz', headers: { 'x-request-id': 'a b\tc' } });
  expect(kept.headers['x-request-id']).toBe('abc-1');
  expect(replaced.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
});

test('health names what the app runs on; readiness names what is away, without saying why', async () => {
  const ready = {
    ledger: async () => {},
    queue: async () => {
      throw new Error('ECONNREFUSED 10.0.0.7');
    },
  };
  const { app } = await start({ ready });
  expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok', runs_on: { ledger: 'memory' } });
  const answer = await app.inject('/readyz');
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({
    status: 'unavailable',
    checks: { ledger: { ok: true }, queue: { ok: false } },
  });
  expect(answer.body).not.toContain('10.0.0.7');
});

test('health fails while a new start may mend what is wrong, without saying what, and no longer', async () => {
  let silent = true;
  const alive = async () => {
    if (silent) throw new Error('no answer from 10.0.0.7');
  };
  const { app } = await start({ alive });
  const answer = await app.inject('/healthz');
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toEqual({ status: 'unavailable', runs_on: { ledger: 'memory' } });
  silent = false;
  expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok', runs_on: { ledger: 'memory' } });
});

test('health that nobody answers fails, too', async () => {
  const { app } = await start({ alive: () => new Promise(() => {}) });
  expect((await app.inject('/healthz')).statusCode).toBe(503);
});

test('requests are counted by route and never by id', async () => {
  const { app } = await start();
  await app.inject('/v1/notes/ann-secret-id');
  const { body } = await app.inject('/metrics');
  expect(body).toContain('route="/v1/notes/:id"');
  expect(body).not.toContain('ann-secret-id');
  expect(body).toContain('slowwave_event_loop_delay_seconds');
});

test('the description lists every route, and each of its references resolves', async () => {
  const { app } = await start();
  const document = (await app.inject('/openapi.json')).json();
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v1/notes', '/v1/notes/{id}', '/healthz']));
  expect((await descriptionOf(app)).missing).toEqual([]);
});

test('the pages for people load nothing from elsewhere', async () => {
  const { app } = await start();
  const page = await app.inject('/docs');
  const script = await app.inject('/docs/static/swagger-initializer.js');
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  expect(`${page.body}${script.body}`).not.toMatch(/(src|href)="(https?:)?\/\//);
  expect(script.body).toContain('"validatorUrl":null');
});
