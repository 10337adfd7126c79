import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { longPoll, waitSignal } from './route.ts';
import { listen } from './serve.ts';
import { testShell } from './testing.ts';

const NOBODY = { apiKey: null, keys: null };

test.each(['0.0.0.0', '::', '192.168.1.5', 'memory.example'])('without a key %s is refused', async (host) => {
  const { app } = await testShell();
  await expect(listen(app, { host, port: 0 }, NOBODY)).rejects.toThrow(/set SLOWWAVE_API_KEY/);
  await app.close();
});

test('with a key in the ledger any host is listened on', async () => {
  const { app } = await testShell();
  const keys = { any: async () => true, check: async () => ({ kind: 'refused' as const, reason: 'unknown' as const }) };
  await expect(listen(app, { host: '0.0.0.0', port: 0 }, { apiKey: null, keys })).resolves.toMatch(/^http/);
  const { app: other } = await testShell();
  const none = { ...keys, any: async () => false };
  await expect(listen(other, { host: '0.0.0.0', port: 0 }, { apiKey: null, keys: none })).rejects.toThrow(
    /keys create/,
  );
  await Promise.all([app.close(), other.close()]);
});

test('loopback needs no key', async () => {
  const { app } = await testShell();
  const address = await listen(app, { host: '127.0.0.1', port: 0 }, NOBODY);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  await app.close();
});

test('a port in use is said, with what to do', async () => {
  const { app } = await testShell();
  const { app: other } = await testShell();
  const { port } = new URL(await listen(app, { host: '127.0.0.1', port: 0 }, NOBODY));
  await expect(listen(other, { host: '127.0.0.1', port: Number(port) }, NOBODY)).rejects.toThrow(
    `port ${port} on 127.0.0.1 is already in use`,
  );
  await Promise.all([app.close(), other.close()]);
});

test.each([
  ['a line that is no HTTP', 'HELLO\r\n\r\n', 400],
  ['headers that are too large', `GET / HTTP/1.1\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
])('%s is answered as a problem', async (_name, request, status) => {
  const { app } = await testShell();
  const { port } = new URL(await listen(app, { host: '127.0.0.1', port: 0 }, NOBODY));
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(request);
  const answer = await text(socket);
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toContain('application/problem+json');
  await app.close();
});

test.each([
  ['while they are waited for', false],
  ['before anybody waits for them', true],
])('a caller who hangs up %s is no longer waited for', async (_, isGone) => {
  const { app } = await testShell();
  const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.get('/v1/slow', async (_request, reply) => {
    arrived.resolve();
    if (isGone) await once(reply.raw, 'close');
    await longPoll(async () => ({ done: false, value: null }), 60_000, waitSignal(reply));
    gone.resolve();
    return reply.send({});
  });
  const address = await listen(app, { host: '127.0.0.1', port: 0 }, NOBODY);
  const caller = new AbortController();
  const request = fetch(`${address}/v1/slow`, { signal: caller.signal });
  await arrived.promise;
  caller.abort();
  await expect(request).rejects.toThrow();
  await expect(gone.promise).resolves.toBeUndefined();
  await app.close();
});
