import type { TurnHandler } from '@slowwave/engine';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import { type Service, spawnService, startRedis, type TestRedis } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openSchedule, redisConnection, startTurnWorker } from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const TAKE_OVER_MS = 2_000;
const WITHIN_MS = 120_000;
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const open = () => openSchedule({ connection: redisConnection(redis.url), log: recordingLog() });
const work = (handler: TurnHandler) => {
  const log = recordingLog();
  const connection = redisConnection(redis.url);
  return startTurnWorker({ connection, concurrency: 1, takeOverMs: TAKE_OVER_MS, handler, log });
};
const child = (how: string): Promise<Service> =>
  spawnService({
    main: new URL('./bullmq-crash-child.ts', import.meta.url),
    args: [redis.url, String(TAKE_OVER_MS), how],
  });

test(
  'a turn of a worker that was killed is taken up by another one, before turns that wait',
  async () => {
    const schedule = await open();
    const victim = await child('waits');
    await schedule.nudge([newNudge('lane_a')]);
    await victim.waitForLine(/took lane_a/);
    await schedule.nudge([newNudge('lane_b'), newNudge('lane_c')]);
    await victim.kill();
    const gate = Promise.withResolvers<void>();
    const taken: string[] = [];
    const heir = work(async ({ lane }) => {
      taken.push(lane);
      if (lane === 'lane_b') await gate.promise;
      return { kind: 'done', next: null };
    });
    await vi.waitFor(
      async () => expect(await schedule.statesOf([newNudge('lane_a')])).toEqual(['scheduled']),
      PATIENCE,
    );
    gate.resolve();
    await vi.waitFor(() => expect(taken).toEqual(['lane_b', 'lane_a', 'lane_c']), PATIENCE);
    await Promise.all([heir.close(), schedule.close()]);
  },
  WITHIN_MS,
);

test(
  'a worker that is busy for longer than its lock keeps its turn, as long as no single step is that long',
  async () => {
    const schedule = await open();
    const busy = await child('is busy');
    await schedule.nudge([newNudge('lane_busy')]);
    await busy.waitForLine(/took lane_busy/);
    const taken: string[] = [];
    const other = work(async ({ lane }) => {
      taken.push(lane);
      return { kind: 'done', next: null };
    });
    await busy.waitForLine(/done lane_busy/);
    await vi.waitFor(
      async () => expect(await schedule.statesOf([newNudge('lane_busy')])).toEqual(['finished']),
      PATIENCE,
    );
    expect(taken).toEqual([]);
    await busy.kill();
    await Promise.all([other.close(), schedule.close()]);
  },
  WITHIN_MS,
);
