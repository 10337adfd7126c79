import {
  memoryConnection,
  type QueueConnection,
  queueFor,
  redisConnection,
  startTurnWorker,
} from '@slowwave/adapters/bullmq';
import { QUEUES } from '@slowwave/contracts';
import { recordingLog } from '@slowwave/engine-testing';
import { startRedis } from '@slowwave/testkit';
import type { Queue } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { consoleBench } from '../src/testing/bench.ts';

const KEY = 'a-long-secret';
const NAME = QUEUES.consolidate.name;
const withKey = { authorization: `Bearer ${KEY}` };
const PLACES = [
  [
    'on Redis',
    async () => {
      const redis = await startRedis();
      return { connection: redisConnection(redis.url), stop: () => redis.stop() };
    },
  ],
  ['in memory', async () => ({ connection: memoryConnection(), stop: async () => {} })],
] as const;

describe.each(PLACES)('the pages of queues %s', (_, open) => {
  let connection: QueueConnection;
  let stop: () => Promise<unknown>;
  let queue: Queue;

  beforeAll(async () => {
    ({ connection, stop } = await open());
    queue = queueFor(connection, NAME);
    await vi.waitFor(() => queue.count(), { timeout: 60_000 });
  });
  afterAll(async () => {
    await queue.close();
    await connection.close();
    await stop();
  });
  beforeEach(async () => {
    await queue.obliterate({ force: true });
  });

  async function start(parked: Record<string, number> = {}) {
    const asked: string[] = [];
    const replayLane = async (lane: string): Promise<number> => {
      asked.push(lane);
      const count = parked[lane] ?? 0;
      parked[lane] = 0;
      return count;
    };
    const { app } = await consoleBench({ queues: [queue], replayLane, apiKey: KEY });
    const put = (path: string) => app.inject({ method: 'PUT', url: `/queues/api/queues/${path}`, headers: withKey });
    const get = (path: string) => app.inject({ url: `/queues${path}`, headers: withKey });
    return { app, asked, put, get };
  }

  /** Turns of these lanes that failed. */
  async function failed(...lanes: string[]): Promise<void> {
    for (const lane of lanes) await queue.add(NAME, { lane, generation: 1 }, { jobId: `${lane}~1` });
    const handler = async () => ({ kind: 'parked' as const, reason: 'the model refused it', next: null });
    const worker = startTurnWorker({ connection, concurrency: 1, handler, log: recordingLog() });
    await vi.waitFor(async () => expect(await queue.getFailedCount()).toBe(lanes.length), { timeout: 60_000 });
    await worker.close();
  }

  test('the page shows the queue and loads nothing from elsewhere', async () => {
    const { get } = await start();
    const page = await get('/');
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.body).not.toContain('googleapis');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    const script = /src="(static\/js\/main[^"]+)"/.exec(page.body)?.[1];
    expect((await get(`/${script}`)).statusCode).toBe(200);
    expect((await get('/api/queues')).json().queues).toMatchObject([{ name: NAME }]);
  });

  test.each(['/queues', '/queues/', '/queues/api/queues', '/queues/static/images/logo.svg'])(
    '%s needs the key',
    async (url) => {
      const { app } = await start();
      expect((await app.inject(url)).statusCode).toBe(401);
      const page = await app.inject({ url, headers: { accept: 'text/html' } });
      expect([page.statusCode, page.headers.location]).toEqual([303, `/login?${new URLSearchParams({ next: url })}`]);
    },
  );

  test('a failed turn is shown with its reason, and its other tabs are empty', async () => {
    await failed('lane_a', 'lane_b');
    const { get } = await start();
    const jobs = `/api/queues/${NAME}`;
    const [listed] = (await get(`/api/queues?activeQueue=${NAME}&status=failed&page=1`)).json().queues;
    expect(listed).toMatchObject({ counts: { failed: 2 }, jobs: [{ id: 'lane_b~1' }, { id: 'lane_a~1' }] });
    const shown = (await get(`${jobs}/lane_a~1`)).json();
    expect(shown).toMatchObject({ status: 'failed', job: { failedReason: 'the model refused it', attempts: 1 } });
    expect((await get(`${jobs}/lane_a~1/logs`)).json()).toEqual([]);
    expect((await get(`${jobs}/lane_a~1/flow`)).json()).toMatchObject({ flowRoot: { children: [] } });
    expect((await get(`${jobs}/metrics`)).statusCode).toBe(200);
  });

  test('a job leads to the batches of its lane, and a lane to its job: the failed one first', async () => {
    await failed('lane_a', 'lane_b');
    await queue.add(NAME, { lane: 'lane_a', generation: 2 }, { jobId: 'lane_a~2' });
    await queue.add(NAME, { lane: 'lane_c', generation: 1 }, { jobId: 'lane_c~1' });
    const { get } = await start();
    const shown = (await get(`/api/queues/${NAME}/lane_a~1`)).json();
    expect(shown.job.externalUrl).toMatchObject({ href: '/work?lane=lane_a' });
    const where = async (lane: string) => (await get(`/of/${lane}`)).headers.location;
    expect(await where('lane_a')).toBe(`/queues/queue/${NAME}/lane_a~1`);
    expect(await where('lane_c')).toBe(`/queues/queue/${NAME}/lane_c~1`);
    expect(await where('lane')).toBe(`/queues/queue/${NAME}`);
    expect((await (await start()).app.inject('/queues/of/lane_a')).statusCode).toBe(401);
  });

  test('trying a failed turn again replays what its lane left parked', async () => {
    await failed('lane_a');
    const { put, asked } = await start({ lane_a: 2 });
    expect((await put(`${NAME}/lane_a~1/retry`)).statusCode).toBe(204);
    expect(asked).toEqual(['lane_a']);
    expect(await queue.getJobCounts('failed', 'waiting', 'active')).toEqual({ failed: 0, waiting: 0, active: 0 });
  });

  test('trying all failed turns again replays each of their lanes', async () => {
    await failed('lane_a', 'lane_b');
    const { put, asked } = await start({ lane_a: 1 });
    expect((await put(`${NAME}/retry/failed`)).json()).toEqual({ retried: 1, skipped: 1 });
    expect(asked.sort()).toEqual(['lane_a', 'lane_b']);
  });

  test('a turn without anything parked is not tried again', async () => {
    await failed('lane_a');
    const { put } = await start();
    expect((await put(`${NAME}/lane_a~1/retry`)).json()).toMatchObject({ status: 409, code: 'conflict' });
  });

  test('an unknown job and an unknown queue are not found', async () => {
    const { put } = await start();
    expect((await put(`${NAME}/lane_x~1/retry`)).json()).toMatchObject({ status: 404, code: 'not_found' });
    expect((await put('other/lane_x~1/retry')).json()).toMatchObject({ status: 404, code: 'not_found' });
  });

  test.each([
    ['PUT', `${NAME}/empty`],
    ['PUT', `${NAME}/obliterate`],
    ['PUT', `${NAME}/pause`],
    ['PUT', `${NAME}/promote`],
    ['PUT', `${NAME}/clean/failed`],
    ['PUT', `${NAME}/retry/completed`],
    ['PUT', `${NAME}/lane_a~1/clean`],
    ['POST', `${NAME}/add`],
    ['PATCH', `${NAME}/lane_a~1/update-data`],
  ] as const)('%s %s is refused, and the queue stays as it is', async (method, path) => {
    await queue.add(NAME, { lane: 'lane_a', generation: 1 }, { jobId: 'lane_a~1' });
    const { app } = await start();
    const payload = method === 'PUT' ? {} : { payload: {} };
    const answer = await app.inject({ method, url: `/queues/api/queues/${path}`, headers: withKey, ...payload });
    expect(answer.statusCode).toBe(405);
    expect(answer.json()).toMatchObject({ code: 'method_not_allowed' });
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(await queue.getWaitingCount()).toBe(1);
  });
});

test('while the queue is away its pages say so, and work again when it is back', async () => {
  const first = await startRedis();
  const away = queueFor(redisConnection(first.url), NAME);
  await vi.waitFor(() => away.count(), { timeout: 60_000 });
  const { app } = await consoleBench({ queues: [away], replayLane: async () => 0, apiKey: KEY });
  const ask = (method: 'GET' | 'PUT', path: string) => app.inject({ method, url: `/queues${path}`, headers: withKey });
  await first.stop();
  for (const answer of [await ask('GET', '/api/queues'), await ask('PUT', `/api/queues/${NAME}/retry/failed`)]) {
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBeDefined();
    expect(answer.json()).toMatchObject({
      status: 503,
      code: 'unavailable',
      message: expect.stringContaining('queue'),
    });
  }
  expect((await ask('GET', '/')).statusCode).toBe(200);
  const second = await startRedis({ port: first.port });
  await vi.waitFor(async () => expect((await ask('GET', '/api/queues')).statusCode).toBe(200), { timeout: 60_000 });
  await away.close();
  await second.stop();
});
