import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type KeyCheck, needScope } from './access.ts';
import { guesses } from './auth.ts';
import type { App } from './shell.ts';
import { testShell } from './testing.ts';

const closing: App[] = [];
// On a busy machine guesses would come back while the test still guesses.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

const STATIC = 'the-key-of-the-operator';
const GIVEN = 'sw_key_1_right';
const ENDED = 'sw_key_2_right';
const keys: KeyCheck = {
  any: async () => true,
  check: async (text) => {
    if (text === ENDED) return { kind: 'refused', reason: 'revoked' };
    if (text !== GIVEN) return { kind: 'refused', reason: 'unknown' };
    const principal = { keyId: 'key_1', tenant: 'acme', scopes: ['search'], userId: null, appId: null } as const;
    return { kind: 'taken', principal };
  },
};
const MOST = 20;
const ATTACKER = '198.51.100.7';

async function start() {
  const { app } = await testShell({ auth: { apiKey: STATIC, keys } });
  closing.push(app);
  needScope(app, 'search');
  app.get('/v1/notes', async () => ({ notes: [] }));
  return async (key: string, from: string, forwarded?: string) => {
    const headers = { authorization: `Bearer ${key}`, ...(forwarded && { 'x-forwarded-for': forwarded }) };
    return app.inject({ url: '/v1/notes', headers, remoteAddress: from });
  };
}

type Ask = Awaited<ReturnType<typeof start>>;

async function guessing(ask: Ask, { times, from, forwarded }: { times: number; from: string; forwarded?: string }) {
  const statuses: number[] = [];
  for (let nth = 0; nth < times; nth += 1) {
    statuses.push((await ask(`wrong-key-number-${nth}`, from, forwarded)).statusCode);
  }
  return statuses;
}

test('who sends many wrong keys is told to wait, and is not compared with the key any more', async () => {
  const ask = await start();
  const statuses = await guessing(ask, { times: MOST + 30, from: ATTACKER });
  expect(statuses.slice(0, MOST)).toEqual(Array(MOST).fill(401));
  expect(statuses.slice(MOST)).toEqual(Array(30).fill(429));
  const refused = await ask(STATIC, ATTACKER);
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(refused.json()).toMatchObject({ code: 'too_many_requests', detail: expect.stringContaining('wrong keys') });
  expect((await ask('sw_key_1_wrong', ATTACKER)).statusCode).toBe(429);
});

test('a right key is let in all the while: from elsewhere, from where it was right before, and any that was given out', async () => {
  const ask = await start();
  expect((await ask(STATIC, ATTACKER)).statusCode).toBe(200);
  await guessing(ask, { times: MOST + 10, from: ATTACKER });
  expect((await ask(STATIC, ATTACKER)).statusCode).toBe(200);
  expect((await ask(GIVEN, ATTACKER)).statusCode).toBe(200);
  expect((await ask(STATIC, '198.51.100.8')).statusCode).toBe(200);
});

test('a program with an old key is no guess: it locks nobody out, itself included', async () => {
  const ask = await start();
  for (let nth = 0; nth < MOST + 30; nth += 1)
    expect((await ask('the-key-of-last-year', ATTACKER)).statusCode).toBe(401);
  expect((await ask(STATIC, ATTACKER)).statusCode).toBe(200);
});

test('a key that has ended is no guess', async () => {
  const ask = await start();
  for (let nth = 0; nth < MOST + 10; nth += 1) expect((await ask(ENDED, ATTACKER)).statusCode).toBe(401);
});

test('behind a proxy of ours it is the address that the proxy saw, whatever stands before it', async () => {
  const ask = await start();
  const proxy = '172.18.0.5';
  await guessing(ask, { times: MOST + 1, from: proxy, forwarded: `8.8.8.8, ${ATTACKER}, 10.0.0.2` });
  expect((await ask('one-more', proxy, `1.2.3.4, ${ATTACKER}`)).statusCode).toBe(429);
  expect((await ask('wrong', proxy, '8.8.8.8')).statusCode).toBe(401);
  expect((await ask('wrong', ATTACKER, '9.9.9.9')).statusCode, 'of nobody else is it believed').toBe(429);
});

test('one who has 64 bits of addresses is one', async () => {
  const ask = await start();
  for (let nth = 0; nth <= MOST; nth += 1) await ask(`wrong-${nth}`, `2001:db8:1:2::${nth.toString(16)}`);
  expect((await ask('wrong', '2001:db8:1:2:ffff::1')).statusCode).toBe(429);
  expect((await ask('wrong', '2001:db8:1:3::1')).statusCode).toBe(401);
});

test('the page where people sign in counts wrong keys, too', async () => {
  const { app } = await testShell({ auth: { apiKey: STATIC, keys } });
  closing.push(app);
  const login = (key: string) =>
    app.inject({
      method: 'POST',
      url: '/login',
      remoteAddress: ATTACKER,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      payload: new URLSearchParams({ key }).toString(),
    });
  for (let nth = 0; nth < MOST; nth += 1) expect((await login(`wrong-key-${nth}`)).statusCode).toBe(401);
  const refused = await login('wrong-key');
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  const headers = { authorization: 'Bearer wrong-key' };
  const asked = await app.inject({ url: '/metrics', headers, remoteAddress: ATTACKER });
  expect(asked.statusCode, 'counted together with those of the API').toBe(429);
});

const request = (ip: string): FastifyRequest => ({ ip, headers: {} }) as FastifyRequest;
const digest = (key: string): Buffer => createHash('sha256').update(key).digest();

test('guesses come back with time, one by one', () => {
  let now = 0;
  const tried = guesses(() => now);
  const one = request(ATTACKER);
  for (let nth = 0; nth < MOST; nth += 1) tried.wrong(one, digest(`wrong ${nth}`));
  expect(() => tried.admit(one, digest('x'))).toThrow('wait 3 s');
  now += 3_000;
  tried.admit(one, digest('x'));
  tried.wrong(one, digest('x'));
  expect(() => tried.admit(one, digest('y'))).toThrow('too many wrong keys');
});

test('many networks that guess as one are slowed down together, and forgotten in the end', () => {
  let now = 0;
  const tried = guesses(() => now);
  let counted = 0;
  const all = () => {
    for (let nth = 0; nth < 1_500; nth += 1) {
      try {
        tried.wrong(request(`198.${Math.floor(nth / 250)}.100.${nth % 250}`), digest('wrong'));
        counted += 1;
      } catch {
        // Slowed down.
      }
    }
  };
  all();
  expect(counted).toBe(1_000);
  expect(() => tried.admit(request('203.0.113.1'), digest('x'))).toThrow('too many wrong keys');
  now += 100_000;
  tried.admit(request('203.0.113.1'), digest('x'));
});
