import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { QUEUES } from '@slowwave/contracts';
import { describeSchedule, newNudge, recordingLog } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  openSchedule,
  pgliteConnection,
  type QueueConnection,
  queueFor,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };
let folder: TempDir;
let imagePath: string;

beforeAll(async () => {
  folder = await tempDir();
  imagePath = join(folder.path, 'images', 'queue.tar.gz');
});
afterAll(() => folder.remove());

describe('the image of an empty queue database', () => {
  const startAndEnd = async () => {
    const log = recordingLog();
    const connection = await pgliteConnection({ imagePath, log });
    const schedule = await openSchedule({ connection, log });
    await schedule.nudge([newNudge('lane_a')]);
    await schedule.close();
    await connection.close();
    return log.lines.filter((line) => line.message.includes('queue database'));
  };

  test('it is made by the first start and used by the next', async () => {
    expect(await startAndEnd()).toMatchObject([{ level: 'debug', fields: { from: 'nothing' } }]);
    const { mtimeMs } = await stat(imagePath);
    expect(await startAndEnd()).toMatchObject([{ level: 'debug', fields: { from: 'image' } }]);
    expect((await stat(imagePath)).mtimeMs).toBe(mtimeMs);
    expect(await readdir(join(folder.path, 'images'))).toEqual(['queue.tar.gz']);
  });

  test.each([
    ['truncated', (image: Buffer) => image.subarray(0, image.length / 2)],
    ['empty', () => Buffer.alloc(0)],
  ])('one that is %s is made again', async (_, breakIt) => {
    const whole = await readFile(imagePath);
    await writeFile(imagePath, breakIt(whole));
    expect(await startAndEnd()).toMatchObject([{ level: 'warn' }]);
    expect(gunzipSync(await readFile(imagePath)).length).toBe(gunzipSync(whole).length);
  });
});

let shared: QueueConnection | null = null;
afterAll(() => shared?.close());
const sharedConnection = async (): Promise<QueueConnection> => {
  shared ??= await pgliteConnection({ imagePath, log: recordingLog() });
  return shared;
};

describeSchedule('on PGlite', async () => {
  const log = recordingLog();
  const connection = await sharedConnection();
  const queue = queueFor(connection, QUEUES.consolidate.name);
  await queue.obliterate({ force: true });
  await queue.close();
  return {
    schedule: await openSchedule({ connection, log }),
    startWorker: (handler, concurrency) => startTurnWorker({ connection, concurrency, handler, log }),
    now: () => Date.now(),
    close: async () => {},
  };
});

describe('the queue on PGlite', () => {
  test('a parked turn is shown as failed, with its reason', async () => {
    const log = recordingLog();
    const connection = await sharedConnection();
    const schedule = await openSchedule({ connection, log });
    const worker = startTurnWorker({
      connection,
      concurrency: 1,
      handler: async () => ({ kind: 'parked', reason: 'the model refused it', next: null }),
      log,
    });
    const queue = queueFor(connection, QUEUES.consolidate.name);
    await queue.obliterate({ force: true });
    await schedule.nudge([newNudge('lane_a')]);
    await vi.waitFor(async () => expect(await queue.getFailedCount()).toBe(1), PATIENCE);
    expect((await queue.getFailed())[0]?.failedReason).toBe('the model refused it');
    await Promise.all([worker.close(), schedule.close(), queue.close()]);
  });

  test('a database that has ended is reported as an unavailable queue', async () => {
    const log = recordingLog();
    const connection = await pgliteConnection({ imagePath, log });
    const schedule = await openSchedule({ connection, log });
    await connection.close();
    await expect(schedule.check()).rejects.toMatchObject({ code: 'queue_unavailable' });
    await expect(connection.ready()).rejects.toMatchObject({ code: 'queue_unavailable' });
  });
});
