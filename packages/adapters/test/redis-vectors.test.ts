import { createServer, type Server } from 'node:net';
import { openVectorCache } from '@slowwave/adapters/assemble';
import { type Config, readStandaloneConfig } from '@slowwave/adapters/config';
import type { VectorCache } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import { startRedis, type TestRedis } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const configOf = (redisUrl: string): Config => readStandaloneConfig({ REDIS_URL: redisUrl }, {});

function openAt(url: string): VectorCache {
  const cache = openVectorCache(configOf(url), recordingLog());
  if (cache === null) throw new Error('a cache was expected where there is a Redis');
  return cache;
}

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

test('what one process has put another one gets, to the last bit', async () => {
  const [one, other] = [openAt(redis.url), openAt(redis.url)];
  const vector = Float32Array.of(0.1, -2.5, 1e-20);
  await vi.waitFor(async () => {
    one.put('k1', vector);
    expect(await other.get('k1')).toEqual(vector);
  }, 60_000);
  expect(await other.get('unknown')).toBeNull();
  await Promise.all([one.close(), other.close()]);
});

test('a Redis that is away is as one that knows nothing', async () => {
  const cache = openAt('redis://127.0.0.1:1');
  cache.put('k1', Float32Array.of(1));
  expect(await cache.get('k1')).toBeNull();
  await cache.close();
});

test('a Redis that does not answer is waited for once, and then left alone', async () => {
  const connections: unknown[] = [];
  const mute: Server = createServer((socket) => connections.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => void mute.listen(0, '127.0.0.1', resolve));
  const address = mute.address();
  const cache = openAt(`redis://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  expect(await cache.get('k1')).toBeNull();
  expect(await cache.get('k1')).toBeNull();
  await cache.close();
  mute.close();
});

test('without Redis nothing is shared', () => {
  expect(openVectorCache(readStandaloneConfig({}, {}), recordingLog())).toBeNull();
});
