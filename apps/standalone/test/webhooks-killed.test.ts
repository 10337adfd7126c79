import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { systemTools } from '@slowwave/adapters/system';
import { freePort, programFile, spawnService, startRedis, tempDir } from '@slowwave/testkit';
import { expect, it } from 'vitest';
import { post } from './client.ts';

const WITHIN_MS = 120_000;
const LATER_MS = 60_000;
const MEMORIES = 6;
/** What is under way for one webhook at a time. */
const AT_A_TIME = 4;

interface Told {
  readonly event_id: string;
  readonly delivery_id: string;
  readonly data: { readonly memory_id: string };
}

/** A receiver that hears, and says nothing until it is told to. */
async function receiver() {
  const told: Told[] = [];
  const state = { answers: false };
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      told.push(body as Told);
      if (state.answers) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/`, told, state, close };
}

/** As if the worker had died a minute ago: what it had under way is due again. */
async function leasesEnd(path: string): Promise<void> {
  const ledger = await openSqliteLedger({ path, tools: systemTools });
  const places = { each: MEMORIES, taken: {} };
  const now = systemTools.now();
  const claimed = await ledger.webhooks.claim({ now: now + LATER_MS, until: now, limit: MEMORIES, places });
  expect(claimed.length).toBeGreaterThanOrEqual(AT_A_TIME);
  await ledger.close();
}

it(
  'what a worker had under way when it was killed is told again under the same ids, and nothing is missing',
  async ({ onTestFinished }) => {
    const folder = await tempDir();
    onTestFinished(() => folder.remove());
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const there = await receiver();
    onTestFinished(there.close);
    const ports = { console: await freePort(), worker: await freePort() };
    const start = async (app: keyof typeof ports) => {
      const service = await spawnService({
        main: programFile(app),
        ready: { url: `http://127.0.0.1:${ports[app]}/readyz` },
        readyWithinMs: WITHIN_MS,
        env: {
          SLOWWAVE_PORT: String(ports[app]),
          SLOWWAVE_DATA_DIR: folder.path,
          REDIS_URL: redis.url,
          SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1',
        },
      });
      onTestFinished(async () => void (await service.stop()));
      return service;
    };
    await start('console');
    const worker = await start('worker');
    const at = `http://127.0.0.1:${ports.console}`;
    const hook = { url: there.url, events: ['memory.added'] };
    expect((await post(`${at}/v1/webhooks`, hook)).status).toBe(201);
    const memory = (i: number) => post(`${at}/v1/memories`, { user_id: 'ann', memory: `Likes song number ${i}` });
    const made = await Promise.all(Array.from({ length: MEMORIES }, (_, i) => memory(i)));
    await expect.poll(() => there.told.length, { timeout: WITHIN_MS }).toBe(AT_A_TIME);
    await worker.kill();
    const before = there.told.splice(0);
    there.state.answers = true;
    await leasesEnd(join(folder.path, 'ledger.db'));
    await start('worker');
    const memories = () => new Set(there.told.map(({ data }) => data.memory_id));
    await expect.poll(() => memories().size, { timeout: WITHIN_MS }).toBe(MEMORIES);
    expect(memories()).toEqual(new Set(made.map(({ body }) => body.id)));
    for (const first of before) expect(there.told).toContainEqual(first);
  },
  WITHIN_MS * 3,
);
