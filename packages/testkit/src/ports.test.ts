import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from './ports.ts';

test('ports are found below those of connections on their way out, each once, and can be listened on', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
  expect(Math.max(...ports) - Math.min(...ports), 'a share of this worker alone').toBeLessThan(1_000);
  const server = createServer().listen(ports[0], '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  expect((server.address() as AddressInfo).port).toBe(ports[0]);
});
