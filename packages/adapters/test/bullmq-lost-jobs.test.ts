import { QUEUES } from '@slowwave/contracts';
import { type LaneId, laneSweep, rebuildQueue, takeTurn } from '@slowwave/engine';
import { echoExtract, engineBench, fakeChat, recordingLog } from '@slowwave/engine-testing';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@slowwave/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  memoryConnection,
  openErasureQueue,
  openFollowUps,
  openSchedule,
  postgresConnection,
  type QueueConnection,
  queueFor,
  redisConnection,
  startErasureWorker,
  startStudyWorker,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
const DAY_MS = 86_400_000;
const USERS = 12;
const TAKE_OVER_MS = 2_000;
/** How often a part is taken away, while workers work and sweeps put it back. */
const LOSSES = 5;
const log = recordingLog();
let redis: TestRedis;
let postgres: TestPostgres;
let keys: Redis;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  keys = new Redis(redis.url);
});
afterAll(async () => {
  keys.disconnect();
  await Promise.all([redis.stop(), postgres.stop()]);
});
beforeEach(async () => void (await keys.flushall()));

const BASE = `{slowwave}:${QUEUES.consolidate.name}`;

/** Users with something to remember, all nudged, and nobody who works yet. */
async function scene(connection: QueueConnection) {
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const schedule = await openSchedule({ connection, log });
  const users = Array.from({ length: USERS }, (_, i) => `user ${i}`);
  for (const userId of users) await bench.post([`lives: in place ${userId}`], { userId });
  const due = () => bench.deps.ledger.lanes.due(bench.tools.now(), 1_000);
  const nudge = async (inMs: number) =>
    schedule.nudge((await due()).map((one) => ({ ...one, dueAt: Date.now() + inMs })));
  const sweep = laneSweep(bench.deps, schedule);
  const live = () => Promise.all(users.map((userId) => bench.live(userId)));
  const work = () =>
    startTurnWorker({ connection, concurrency: 3, takeOverMs: TAKE_OVER_MS, handler: takeTurn(bench.deps), log });
  /** Sweeps as a worker does, until everything is remembered, once; something may be lost before each of the first times. */
  const untilRemembered = (times = 0, lose: () => Promise<unknown> = async () => {}) => {
    let lost = 0;
    return vi.waitFor(async () => {
      if (lost++ < times) await lose();
      await sweep();
      expect(await live()).toEqual(users.map((userId) => [`lives: in place ${userId}`]));
      expect(await due()).toEqual([]);
      expect(lost).toBeGreaterThanOrEqual(times);
    }, PATIENCE);
  };
  return { ...bench, schedule, due, nudge, sweep, work, untilRemembered };
}

const PARTS = ['delayed', 'prioritized', 'wait', 'active', 'stalled', 'meta', 'id', 'events', 'marker', 'pc'] as const;

describe('a queue on Redis that lost a part of itself', () => {
  test('jobs that are in no set any more hold up no lane', async () => {
    const { nudge, work, untilRemembered, schedule, due } = await scene(redisConnection(redis.url));
    await nudge(60 * 60_000);
    await keys.del(`${BASE}:delayed`);
    const [first] = await due();
    expect(await keys.exists(`${BASE}:${first?.lane}~${first?.generation}`)).toBe(1);
    const worker = work();
    await untilRemembered();
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('rebuild queue alone gives them jobs again', async () => {
    const { nudge, schedule, deps, due } = await scene(redisConnection(redis.url));
    await nudge(0);
    await keys.del(`${BASE}:prioritized`);
    expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: USERS, scheduled: USERS });
    expect(await schedule.statesOf(await due())).toEqual(Array.from({ length: USERS }, () => 'scheduled'));
    expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: USERS, scheduled: 0 });
    await schedule.close();
  });

  test.each(PARTS)('all are worked although "%s" goes again and again', async (part) => {
    const { nudge, work, untilRemembered, schedule } = await scene(redisConnection(redis.url));
    await nudge(part === 'delayed' ? 1_000 : 0);
    const worker = work();
    await untilRemembered(LOSSES, () => keys.del(`${BASE}:${part}`));
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('all are worked once although every second key goes, jobs and locks among them', async () => {
    const { nudge, work, untilRemembered, schedule } = await scene(redisConnection(redis.url));
    await nudge(0);
    const worker = work();
    const every = await keys.keys(`${BASE}:*`);
    await keys.del(...every.filter((_, i) => i % 2 === 0));
    await untilRemembered();
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('a lane whose job went while a dead worker had it is taken up', async () => {
    const { nudge, work, untilRemembered, schedule, due, deps } = await scene(redisConnection(redis.url));
    await nudge(0);
    const [first] = await due();
    if (first === undefined) throw new Error('nothing is due');
    const { now, window } = { now: deps.tools.now(), window: deps.settings.window };
    await deps.ledger.lanes.claim(first, { now, window, newConsolidationId: 'con_dead' });
    expect(await deps.ledger.lanes.get(first.lane)).toMatchObject({ state: 'consolidating' });
    await keys.zrem(`${BASE}:prioritized`, `${first.lane}~${first.generation}`);
    const worker = work();
    await untilRemembered();
    await Promise.all([worker.close(), schedule.close()]);
  });
});

const PLACES = [
  ['Redis', async () => redisConnection(redis.url)],
  ['PostgreSQL', async () => postgresConnection({ url: postgres.url, log })],
  ['memory', async () => memoryConnection()],
] as const;

describe.each(PLACES)('in %s', (_, open) => {
  let connection: QueueConnection;
  beforeAll(async () => {
    connection = await open();
    await connection.ready();
  });
  afterAll(() => connection.close());

  const wipe = async (): Promise<void> => {
    const queue = queueFor(connection, QUEUES.consolidate.name);
    await vi.waitFor(() => queue.obliterate({ force: true }), PATIENCE);
    await queue.close();
  };
  beforeEach(wipe);

  test('a wiped queue gets every turn again', async () => {
    const { nudge, work, untilRemembered, schedule } = await scene(connection);
    await nudge(0);
    await wipe();
    const worker = work();
    await untilRemembered();
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('a turn that a wrong clock put to sleep for a day is worked when it is due', async () => {
    const { nudge, work, untilRemembered, schedule, due } = await scene(connection);
    await nudge(DAY_MS);
    expect(new Set(await schedule.statesOf(await due()))).toEqual(new Set(['asleep']));
    const worker = work();
    await untilRemembered();
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('a study and an erasure that a wrong clock put to sleep are worked when they are due', async () => {
    const followUps = await openFollowUps({ connection, log });
    const erasures = await openErasureQueue({ connection, log });
    for (const [name, id] of [
      [QUEUES.study.name, 'lane_a'],
      [QUEUES.erase.name, 'ers_1'],
    ] as const) {
      const queue = queueFor(connection, name);
      await vi.waitFor(() => queue.add('early', { lane: id, erasure: id }, { jobId: id, delay: DAY_MS }), PATIENCE);
      await queue.close();
    }
    const worked: string[] = [];
    const handler = async (id: string) => {
      worked.push(id);
      return null;
    };
    const workers = [
      startStudyWorker({ connection, concurrency: 1, handler, log }),
      startErasureWorker({ connection, concurrency: 1, handler, log }),
    ];
    await followUps.study(['lane_a' as LaneId]);
    await erasures.erase(['ers_1']);
    await vi.waitFor(() => expect(worked.toSorted()).toEqual(['ers_1', 'lane_a']), PATIENCE);
    await Promise.all([...workers.map((worker) => worker.close()), followUps.close(), erasures.close()]);
  });
});

test('studies and erasures on Redis whose jobs are in no set any more are worked', async () => {
  const connection = redisConnection(redis.url);
  const followUps = await openFollowUps({ connection, log });
  const erasures = await openErasureQueue({ connection, log });
  const ask = () => Promise.all([followUps.study(['lane_a' as LaneId]), erasures.erase(['ers_1'])]);
  await ask();
  await keys.del(`{slowwave}:${QUEUES.study.name}:wait`, `{slowwave}:${QUEUES.erase.name}:wait`);
  const worked: string[] = [];
  const handler = async (id: string) => {
    worked.push(id);
    return null;
  };
  const workers = [
    startStudyWorker({ connection, concurrency: 1, handler, log }),
    startErasureWorker({ connection, concurrency: 1, handler, log }),
  ];
  await ask();
  await vi.waitFor(() => expect(worked.toSorted()).toEqual(['ers_1', 'lane_a']), PATIENCE);
  await Promise.all([...workers.map((worker) => worker.close()), followUps.close(), erasures.close()]);
});
