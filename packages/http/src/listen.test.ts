import { expect, test } from 'vitest';
import { listen } from './listen.ts';
import { testShell } from './testing.ts';

test.each(['0.0.0.0', '::', '192.168.1.5', 'memory.example'])('without a key %s is refused', async (host) => {
  const { app } = await testShell();
  await expect(listen(app, { host, port: 0, apiKey: null })).rejects.toThrow(/set SLOWWAVE_API_KEY/);
  await app.close();
});

test('loopback needs no key', async () => {
  const { app } = await testShell();
  const address = await listen(app, { host: '127.0.0.1', port: 0, apiKey: null });
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  await app.close();
});
