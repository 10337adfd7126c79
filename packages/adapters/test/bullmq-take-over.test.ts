import { kill } from 'node:process';
import type { TurnHandler } from '@slowwave/engine';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import {
  type Service,
  spawnService,
  startPostgres,
  startRedis,
  type TestPostgres,
  type TestRedis,
} from '@slowwave/testkit';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  keepLocks,
  openSchedule,
  postgresConnection,
  type QueueConnection,
  redisConnection,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const TAKE_OVER_MS = 2_000;
const CHILD = new URL('./bullmq-crash-child.ts', import.meta.url);
let redis: TestRedis;
let postgres: TestPostgres;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
});
afterAll(() => Promise.all([redis.stop(), postgres.stop()]));

const log = recordingLog();
/** A step may take five times as long. */
const SHORT_MS = 1_000;

test('a worker that hangs for good loses its turn', async () => {
  const connection = redisConnection(redis.url);
  const schedule = await openSchedule({ connection, log });
  const hung = await spawnService({ main: CHILD, args: [redis.url, String(SHORT_MS), 'hangs'] });
  await schedule.nudge([newNudge('lane_hung')]);
  await hung.waitForLine(/took lane_hung/);
  const taken = Promise.withResolvers<string>();
  const handler: TurnHandler = async ({ lane }) => {
    taken.resolve(lane);
    return { kind: 'done', next: null };
  };
  const heir = startTurnWorker({ connection, concurrency: 1, takeOverMs: SHORT_MS, handler, log });
  expect(await taken.promise).toBe('lane_hung');
  await hung.kill();
  await Promise.all([heir.close(), schedule.close()]);
});

test('a turn that was taken by a host whose clock is a day ahead, and that was killed at once, is taken up too', async () => {
  const connection = postgresConnection({ url: postgres.url, log });
  const schedule = await openSchedule({ connection, log });
  const victim = await spawnService({ main: CHILD, args: [postgres.url, String(TAKE_OVER_MS), 'waits'] });
  await schedule.nudge([newNudge('lane_ahead')]);
  await victim.waitForLine(/took lane_ahead/);
  await victim.kill();
  const database = new Client({ connectionString: postgres.url });
  await database.connect();
  const { rowCount } = await database.query(
    "UPDATE bullmq.job SET locked_until_ms = locked_until_ms + 86400000 WHERE state = 'active'",
  );
  await database.query("DELETE FROM bullmq.meta WHERE field = 'stalled-check'"); // nobody has looked for a while
  await database.end();
  expect(rowCount, 'as that host wrote it').toBe(1);
  const taken = Promise.withResolvers<string>();
  const handler: TurnHandler = async ({ lane }) => {
    taken.resolve(lane);
    return { kind: 'done', next: null };
  };
  const heir = startTurnWorker({ connection, concurrency: 1, takeOverMs: TAKE_OVER_MS, handler, log });
  expect(await taken.promise).toBe('lane_ahead');
  await Promise.all([heir.close(), schedule.close()]);
  await connection.close();
});

const SERVERS = {
  Redis: { urlOf: () => redis.url, connect: redisConnection },
  PostgreSQL: { urlOf: () => postgres.url, connect: (url: string) => postgresConnection({ url, log }) },
};

describe.each(Object.entries(SERVERS))('workers on %s', (name, { urlOf, connect }) => {
  let connection: QueueConnection;
  let schedule: Awaited<ReturnType<typeof openSchedule>>;
  let children: number[];
  let open: { close(): Promise<void> }[];
  let taken: string[];
  let number = 0;

  beforeEach(async () => {
    connection = connect(urlOf());
    schedule = await openSchedule({ connection, log });
    open = [];
    children = [];
    taken = [];
    number += 1;
  });
  afterEach(async () => {
    for (const pid of children) if (isRunning(pid)) kill(pid, 'SIGKILL');
    for (const one of open) await one.close();
    await schedule.close();
    await connection.close();
  });

  const turn = (lane: string) => newNudge(`lane_${name}${number}${lane}`);
  const child = async (how: string): Promise<Service> => {
    const service = await spawnService({
      main: CHILD,
      args: [urlOf(), String(TAKE_OVER_MS), how],
    });
    children.push(service.pid);
    return service;
  };
  const work = async (handler: TurnHandler): Promise<void> => {
    const { lockServer: server } = connection;
    const locks = server === null ? undefined : await keepLocks({ server, lockMs: TAKE_OVER_MS, log });
    const first: TurnHandler = async (one, signal) => {
      taken.push(one.lane);
      return handler(one, signal);
    };
    open.push(startTurnWorker({ connection, concurrency: 1, takeOverMs: TAKE_OVER_MS, locks, handler: first, log }));
    if (locks !== undefined) open.push(locks);
  };
  const stateOf = async (lane: string) => (await schedule.statesOf([turn(lane)]))[0];
  const untilState = (lane: string, state: string): Promise<void> =>
    vi.waitFor(async () => expect(await stateOf(lane)).toBe(state), PATIENCE);
  const lanes = (...which: string[]): string[] => which.map((lane) => turn(lane).lane);

  test('a turn of a worker that was killed is taken up by another one, before turns that wait', async () => {
    const victim = await child('waits');
    await schedule.nudge([turn('a')]);
    await victim.waitForLine(new RegExp(`took ${turn('a').lane}`));
    await schedule.nudge([turn('b'), turn('c')]);
    await victim.kill();
    const gate = Promise.withResolvers<void>();
    await work(async ({ lane }) => {
      if (lane === turn('b').lane) await gate.promise;
      return { kind: 'done', next: null };
    });
    // It may be due again before a worker on a busy machine takes its first turn: then it is taken before the others.
    await vi.waitFor(async () => expect(['scheduled', 'finished']).toContain(await stateOf('a')), PATIENCE);
    gate.resolve();
    await vi.waitFor(() => expect(taken).toHaveLength(3), PATIENCE);
    expect(new Set(taken)).toEqual(new Set(lanes('a', 'b', 'c')));
    expect(taken.indexOf(turn('a').lane)).toBeLessThan(taken.indexOf(turn('c').lane));
  });

  test('a worker whose thread is busy with one step for longer than its lock keeps its turn', async () => {
    const busy = await child('is busy');
    await schedule.nudge([turn('busy')]);
    await busy.waitForLine(new RegExp(`took ${turn('busy').lane}`));
    await work(async () => ({ kind: 'done', next: null }));
    await busy.waitForLine(new RegExp(`done ${turn('busy').lane}`));
    await untilState('busy', 'finished');
    expect(taken).toEqual([]);
    await busy.kill();
  });

  test('a worker that was stopped loses its turn, and gives it up when it goes on', async () => {
    const stopped = await child('waits');
    await schedule.nudge([turn('stopped')]);
    await stopped.waitForLine(new RegExp(`took ${turn('stopped').lane}`));
    kill(stopped.pid, 'SIGSTOP');
    const gate = Promise.withResolvers<void>();
    await work(async () => {
      await gate.promise;
      return { kind: 'done', next: null };
    });
    await vi.waitFor(() => expect(taken).toEqual(lanes('stopped')), PATIENCE);
    expect(stopped.output()).not.toMatch(/lost/);
    kill(stopped.pid, 'SIGCONT');
    await stopped.waitForLine(new RegExp(`lost ${turn('stopped').lane}`));
    gate.resolve();
    await untilState('stopped', 'finished');
    await stopped.kill();
  });
});

function isRunning(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch {
    return false;
  }
}
