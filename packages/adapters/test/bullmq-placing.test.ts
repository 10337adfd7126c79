import { QUEUES } from '@slowwave/contracts';
import type { Nudge, TenantId } from '@slowwave/engine';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import { startRedis, type TestRedis } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  memoryConnection,
  openSchedule,
  type QueueConnection,
  queueFor,
  redisConnection,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const MANY = 30;
const SOON_MS = 500;
const log = recordingLog();
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await redis.stop();
});

const PLACES = [
  ['Redis', async () => redisConnection(redis.url)],
  ['memory', async () => memoryConnection()],
] as const;

describe.each(PLACES)('turns that come due while every place is taken, in %s', (_, open) => {
  let connection: QueueConnection;
  beforeAll(async () => {
    connection = await open();
  });
  afterAll(() => connection.close());

  test('are taken once each, in rounds of their tenants', async () => {
    const schedule = await openSchedule({ connection, log });
    const taken: string[] = [];
    const gate = Promise.withResolvers<void>();
    const between = Promise.withResolvers<void>();
    const worker = startTurnWorker({
      connection,
      concurrency: 1,
      handler: async ({ lane }) => {
        taken.push(lane);
        if (lane === 'lane_first') await gate.promise;
        // The first of those that came due: the others get their rounds while it is worked.
        else if (taken.length === 2) await between.promise;
        return { kind: 'done', next: null };
      },
      log,
    });
    const turn = (tenant: string, lane: string, inMs: number): Nudge => ({
      ...newNudge(`lane_${lane}`, { dueAt: Date.now() + inMs }),
      tenant: tenant as TenantId,
    });
    await schedule.nudge([turn('busy', 'first', 0)]);
    await vi.waitFor(() => expect(taken).toEqual(['lane_first']), PATIENCE);
    const busy = Array.from({ length: MANY }, (_, i) => turn('busy', String(i), SOON_MS));
    const quiet = turn('quiet', 'quiet', SOON_MS + 1);
    await schedule.nudge([...busy, quiet]);
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(quiet.dueAt + SOON_MS), PATIENCE);
    gate.resolve();
    await vi.waitFor(() => expect(taken).toHaveLength(2), PATIENCE);
    const queue = queueFor(connection, QUEUES.consolidate.name);
    const waiting = () => queue.getPrioritized(0, -1);
    await vi.waitFor(
      async () => expect((await waiting()).some(({ priority }) => priority < MANY)).toBe(true),
      PATIENCE,
    );
    between.resolve();
    await vi.waitFor(() => expect(taken).toHaveLength(MANY + 2), PATIENCE);
    expect(taken.indexOf('lane_quiet')).toBeLessThanOrEqual(4);
    await vi.waitFor(async () => expect(await queue.getCompletedCount()).toBe(MANY + 2), PATIENCE);
    const starts = (await queue.getCompleted(0, -1)).map(({ attemptsStarted }) => attemptsStarted);
    expect(new Set(starts)).toEqual(new Set([1]));
    await Promise.all([worker.close(), schedule.close(), queue.close()]);
  });
});
