import { QUEUES } from '@slowwave/contracts';
import type { Nudge } from '@slowwave/engine';
import { describeSchedule, newNudge, recordingLog } from '@slowwave/engine-testing';
import { freePort, startPostgres } from '@slowwave/testkit';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { checkQueue, openSchedule, postgresConnection, queueFor, startTurnWorker } from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const server = await startPostgres();
afterAll(() => server.stop());

const nudgeOf = (lane: string, inMs = 0, generation = 1): Nudge =>
  newNudge(`lane_${lane}`, { generation, dueAt: Date.now() + inMs });
const connect = (url = server.url, log = recordingLog()) => postgresConnection({ url, log });
async function wipe(): Promise<void> {
  const connection = connect();
  await connection.ready();
  const queue = queueFor(connection, QUEUES.consolidate.name);
  await queue.obliterate({ force: true });
  await queue.close();
  await connection.close();
}

describeSchedule('on PostgreSQL', async () => {
  await wipe();
  const log = recordingLog();
  const connection = connect();
  return {
    schedule: await openSchedule({ connection, log }),
    startWorker: (handler, concurrency) => startTurnWorker({ connection, concurrency, handler, log }),
    now: () => Date.now(),
    close: () => connection.close(),
  };
});

describe('the queue on PostgreSQL', () => {
  test('is set up once by processes that start at the same moment, and shared by them', async () => {
    await wipe();
    const log = recordingLog();
    const connections = [1, 2, 3].map(() => connect());
    const schedules = await Promise.all(connections.map((connection) => openSchedule({ connection, log })));
    const worked: string[] = [];
    const workers = connections.map((connection) =>
      startTurnWorker({
        connection,
        concurrency: 2,
        handler: async ({ lane }) => {
          worked.push(lane);
          return { kind: 'done', next: null };
        },
        log,
      }),
    );
    const lanes = Array.from({ length: 30 }, (_, i) => nudgeOf(String(i)));
    await Promise.all(schedules.map((schedule) => schedule.nudge(lanes)));
    await vi.waitFor(() => expect(worked).toHaveLength(30), PATIENCE);
    expect(new Set(worked).size).toBe(30);
    await Promise.all([...workers, ...schedules].map((one) => one.close()));
    await Promise.all(connections.map((connection) => connection.close()));
  });

  test('that nobody answers for is named without its password', async () => {
    const port = await freePort();
    const url = Object.assign(new URL(server.url), { port: String(port) }).href;
    const connection = connect(url);
    const failure = await openSchedule({ connection, log: recordingLog() }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'queue_unavailable', retryable: true });
    expect(String(failure)).toContain(`postgres://127.0.0.1:${port}/`);
    expect(String(failure)).toContain('ECONNREFUSED');
    expect(String(failure)).not.toContain(server.password);
    await connection.close();
  });
});

describe('a PostgreSQL that goes away', () => {
  test('fails calls, crashes nothing, and is worked with again when it is back', async () => {
    const other = await startPostgres();
    const log = recordingLog();
    const connection = connect(other.url, log);
    const schedule = await openSchedule({ connection, log });
    const worked: string[] = [];
    const worker = startTurnWorker({
      connection,
      concurrency: 2,
      handler: async ({ lane }) => {
        worked.push(lane);
        return { kind: 'done', next: null };
      },
      log,
    });
    await schedule.nudge([nudgeOf('before')]);
    // Begun is not finished: a turn whose end was never written is rightly worked again when the server is back.
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('before')])).toEqual(['finished']), PATIENCE);
    await other.halt();
    await expect(schedule.nudge([nudgeOf('lost')])).rejects.toMatchObject({
      code: 'queue_unavailable',
      retryable: true,
      message: expect.stringContaining(`postgres://127.0.0.1:${other.port}/`),
    });
    await other.resume();
    await vi.waitFor(() => schedule.nudge([nudgeOf('after')]), PATIENCE);
    // The server may have lost its last moment, and with it that the first turn was finished: then that is worked again.
    await vi.waitFor(() => expect(new Set(worked)).toEqual(new Set(['lane_before', 'lane_after'])), PATIENCE);
    await Promise.all([worker.close(), schedule.close()]);
    await connection.close();
    await other.stop();
  });

  test('is worked with when it is back by queues and workers that began without it', async () => {
    const other = await startPostgres();
    const log = recordingLog();
    const connection = connect(other.url, log);
    await connection.ready();
    await other.halt();
    const worked: string[] = [];
    const handler = async ({ lane }: { readonly lane: string }) => {
      worked.push(lane);
      return { kind: 'done', next: null } as const;
    };
    const worker = startTurnWorker({ connection, concurrency: 2, handler, log });
    const queue = queueFor(connection, QUEUES.consolidate.name);
    await expect(checkQueue(queue)).rejects.toMatchObject({ code: 'queue_unavailable' });
    await other.resume();
    await vi.waitFor(() => checkQueue(queue), PATIENCE);
    const schedule = await vi.waitFor(() => openSchedule({ connection, log }), PATIENCE);
    await schedule.nudge([nudgeOf('after')]);
    await vi.waitFor(() => expect(worked).toEqual(['lane_after']), PATIENCE);
    await Promise.all([worker.close(), schedule.close(), queue.close()]);
    await connection.close();
    await other.stop();
  });

  test('does not keep schedule and worker from closing', async () => {
    const gone = await startPostgres();
    const log = recordingLog();
    const connection = connect(gone.url, log);
    const schedule = await openSchedule({ connection, log });
    const handler = async () => ({ kind: 'done', next: null }) as const;
    const worker = startTurnWorker({ connection, concurrency: 2, handler, log });
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['finished']), PATIENCE);
    await gone.halt();
    await Promise.all([worker.close(), schedule.close()]);
    await expect(connection.close()).resolves.toBeUndefined();
    await gone.stop();
  });
});
