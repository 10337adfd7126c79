import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { QUEUES } from '@slowwave/contracts';
import { describeSchedule, newNudge, recordingLog } from '@slowwave/engine-testing';
import { type Job, type Queue, QueueEvents } from 'bullmq';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  memoryConnection,
  openSchedule,
  type QueueConnection,
  queueFor,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const MANY = 10_000;
const log = recordingLog();

describeSchedule('in memory', async () => {
  const connection = memoryConnection();
  return {
    schedule: await openSchedule({ connection, log }),
    startWorker: (handler, concurrency) => startTurnWorker({ connection, concurrency, handler, log }),
    now: () => Date.now(),
    close: () => connection.close(),
  };
});

describe('a queue in memory', () => {
  let connection: QueueConnection;
  let queue: Queue;
  const closings: (() => Promise<unknown>)[] = [];
  const closedLater = <T extends { close(): Promise<unknown> }>(opened: T): T => {
    closings.unshift(() => opened.close());
    return opened;
  };

  beforeEach(() => {
    connection = memoryConnection();
    queue = queueFor(connection, QUEUES.consolidate.name);
  });
  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
    await queue.close();
    await connection.close();
  });

  const work = (handler: (job: Job) => Promise<unknown> = async () => {}, options = {}) =>
    closedLater(connection.openWorker(queue.name, handler, { concurrency: 5, ...options }));
  const untilCounted = (counts: Readonly<Record<string, number>>) =>
    vi.waitFor(
      async () => expect(await queue.getJobCounts(...(Object.keys(counts) as 'wait'[]))).toEqual(counts),
      PATIENCE,
    );

  test('a parked turn is shown as failed, with its reason', async () => {
    const schedule = closedLater(await openSchedule({ connection, log }));
    closedLater(
      startTurnWorker({
        connection,
        concurrency: 1,
        handler: async () => ({ kind: 'parked', reason: 'the model refused it', next: null }),
        log,
      }),
    );
    await schedule.nudge([newNudge('lane_a')]);
    await untilCounted({ failed: 1 });
    expect((await queue.getFailed())[0]?.failedReason).toBe('the model refused it');
  });

  test('once it has been closed it is reported as unavailable', async () => {
    const other = memoryConnection();
    const schedule = await openSchedule({ connection: other, log });
    await other.close();
    await expect(schedule.check()).rejects.toMatchObject({ code: 'queue_unavailable' });
    await expect(schedule.nudge([newNudge('lane_a')])).rejects.toMatchObject({ code: 'queue_unavailable' });
  });

  test('ten thousand lanes are nudged at once, and each is worked once', async () => {
    const schedule = closedLater(await openSchedule({ connection, log }));
    const worked: string[] = [];
    await schedule.nudge(Array.from({ length: MANY }, (_, i) => newNudge(`lane_${i}`)));
    closedLater(
      startTurnWorker({
        connection,
        concurrency: 20,
        handler: async ({ lane }) => {
          worked.push(lane);
          return { kind: 'done', next: null };
        },
        log,
      }),
    );
    await vi.waitFor(() => expect(worked).toHaveLength(MANY), PATIENCE);
    expect(new Set(worked).size).toBe(MANY);
    await untilCounted({ completed: 1_000, prioritized: 0, active: 0 });
  });

  test('jobs are shown in their states, page by page', async () => {
    await queue.addBulk([
      { name: 'a', data: {}, opts: { jobId: 'third', priority: 7 } },
      { name: 'a', data: {}, opts: { jobId: 'fourth', priority: 7 } },
      { name: 'a', data: {}, opts: { jobId: 'second', priority: 3 } },
      { name: 'a', data: { n: 1 }, opts: { jobId: 'first' } },
      { name: 'a', data: {}, opts: { jobId: 'tomorrow', delay: 86_400_000 } },
      { name: 'a', data: {}, opts: { jobId: 'later', delay: 3_600_000 } },
    ]);
    const ids = async (...args: Parameters<Queue['getJobs']>) => (await queue.getJobs(...args)).map(({ id }) => id);
    expect(await ids(['wait'])).toEqual(['first']);
    expect(await ids(['prioritized'], 0, -1, true)).toEqual(['second', 'third', 'fourth']);
    expect(await ids(['prioritized'])).toEqual(['fourth', 'third', 'second']);
    expect(await ids(['prioritized'], 1, 1, true)).toEqual(['third']);
    expect(await ids(['delayed'], 0, -1, true)).toEqual(['later', 'tomorrow']);
    await queue.addBulk(['fifth', 'sixth'].map((jobId) => ({ name: 'a', data: {}, opts: { jobId } })));
    expect(await ids(['wait'], 0, 1, true)).toEqual(['first', 'fifth']);
    expect(await ids(['wait'], 0, 1)).toEqual(['sixth', 'fifth']);
    expect(await ids(['active', 'completed', 'failed'])).toEqual([]);
    expect(await queue.getJobCounts('wait', 'prioritized', 'delayed')).toEqual({ wait: 3, prioritized: 3, delayed: 2 });
    expect(await queue.getDelayedCount()).toBe(2);
    expect(await (await queue.getJob('second'))?.getState()).toBe('prioritized');
    expect((await queue.getJob('first'))?.data).toEqual({ n: 1 });
    expect(await queue.getJob('nobody')).toBeUndefined();
    expect(await queue.getJobState('nobody')).toBe('unknown');
  });

  test('as many ended jobs are kept as their options say, and for as long', async () => {
    work(async ({ data }) => {
      if (data.fails) throw new Error('no');
    });
    const keep = { removeOnComplete: { age: 3_600, count: 3 }, removeOnFail: 2 };
    await queue.addBulk(Array.from({ length: 20 }, (_, i) => ({ name: 'a', data: { fails: i % 2 }, opts: keep })));
    await untilCounted({ wait: 0, active: 0, completed: 3, failed: 2 });
    await queue.add('a', {}, { removeOnComplete: true });
    await queue.add('a', {}, { removeOnComplete: { age: 0.001 } });
    await untilCounted({ wait: 0, active: 0 });
    await sleep(5);
    await queue.add('a', {}, { jobId: 'last', removeOnComplete: { age: 0.001 } });
    await vi.waitFor(async () => expect((await queue.getCompleted()).map(({ id }) => id)).toEqual(['last']), PATIENCE);
  });

  test('a job that fails is tried again after its time, and not more often than it says', async () => {
    const tries: number[] = [];
    work(async ({ attemptsMade }) => {
      tries.push(attemptsMade);
      throw new Error('not yet');
    });
    await queue.add('a', {}, { jobId: 'b', attempts: 3, backoff: { type: 'fixed', delay: 20 } });
    await untilCounted({ failed: 1 });
    expect(tries).toEqual([0, 1, 2]);
    expect(await queue.getJob('b')).toMatchObject({ attemptsMade: 3, failedReason: 'not yet' });
    expect((await queue.getJob('b'))?.stacktrace).toHaveLength(3);
  });

  test('a worker that waits is woken by a job that is due earlier than what it waits for', async () => {
    const worked: string[] = [];
    work(async ({ id }) => void worked.push(id ?? ''));
    await queue.add('a', {}, { jobId: 'hour', delay: 3_600_000 });
    await sleep(20);
    await queue.add('a', {}, { jobId: 'now' });
    await vi.waitFor(() => expect(worked).toEqual(['now']), PATIENCE);
    await queue.add('a', {}, { jobId: 'soon', delay: 30 });
    await vi.waitFor(() => expect(worked).toEqual(['now', 'soon']), PATIENCE);
  });

  test('a job whose worker no longer renews its lock is worked by another, and what the first says is refused', async () => {
    const said = Promise.withResolvers<void>();
    const runs: string[] = [];
    const errors: string[] = [];
    const hung = work(
      async () => {
        runs.push('first');
        await said.promise;
      },
      { concurrency: 1, lockDuration: 30, skipLockRenewal: true, skipStalledCheck: true },
    );
    hung.on('error', ({ message }) => errors.push(message));
    await queue.add('a', {}, { jobId: 'b' });
    await vi.waitFor(() => expect(runs).toEqual(['first']), PATIENCE);
    const stalled: string[] = [];
    const second = work(async () => void runs.push('second'), { lockDuration: 60_000, stalledInterval: 40 });
    second.on('stalled', (id) => stalled.push(id));
    await vi.waitFor(async () => expect(await queue.getJobState('b')).toBe('completed'), PATIENCE);
    said.resolve();
    await vi.waitFor(() => expect(errors.join()).toContain('is in another state'), PATIENCE);
    expect(runs).toEqual(['first', 'second']);
    expect(stalled).toEqual(['b']);
    expect((await queue.getJob('b'))?.stalledCounter).toBe(1);
  });

  test('a job that kills its workers too often fails', async () => {
    const hang = () => new Promise<void>(() => {});
    const options = { lockDuration: 10, skipLockRenewal: true, stalledInterval: 20, maxStalledCount: 1 };
    for (let i = 0; i < 3; i += 1) connection.openWorker(queue.name, hang, options).on('error', () => {});
    await queue.add('a', {}, { jobId: 'b' });
    await untilCounted({ failed: 1 });
    expect((await queue.getJob('b'))?.failedReason).toContain('stalled more than allowable limit');
  });

  test('after a pause of the whole process jobs go on where they are', async () => {
    const runs: string[] = [];
    const gate = Promise.withResolvers<void>();
    work(
      async ({ id }) => {
        runs.push(id ?? '');
        await gate.promise;
      },
      { lockDuration: 100, lockRenewTime: 25, stalledInterval: 25 },
    );
    await queue.add('a', {}, { jobId: 'b' });
    await vi.waitFor(() => expect(runs).toEqual(['b']), PATIENCE);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await sleep(200);
    gate.resolve();
    await untilCounted({ completed: 1 });
    expect(runs).toEqual(['b']);
  });

  test('failed jobs are retried, waiting ones are promoted, cleaned, drained and removed', async () => {
    let fails = true;
    const worker = work(async () => {
      if (fails) throw new Error('no');
    });
    await queue.addBulk(['a', 'b', 'c'].map((jobId) => ({ name: 'a', data: {}, opts: { jobId } })));
    await untilCounted({ failed: 3 });
    fails = false;
    await (await queue.getJob('a'))?.retry();
    await untilCounted({ failed: 2, completed: 1 });
    await queue.retryJobs();
    await untilCounted({ failed: 0, completed: 3 });
    expect((await queue.getJob('b'))?.failedReason).toBeUndefined();
    await worker.pause();
    expect((await queue.clean(0, 2, 'completed')).length).toBe(2);
    await queue.add('a', {}, { jobId: 'd', delay: 60_000 });
    await queue.add('a', {}, { jobId: 'e', delay: 60_000 });
    await (await queue.getJob('d'))?.promote();
    expect(await queue.getJobCounts('wait', 'delayed', 'completed')).toEqual({ wait: 1, delayed: 1, completed: 1 });
    await queue.remove('e');
    await queue.drain();
    expect(await queue.getJobCounts('wait', 'delayed', 'completed')).toEqual({ wait: 0, delayed: 0, completed: 1 });
    await queue.obliterate();
    expect(await queue.getJobCounts('completed')).toEqual({ completed: 0 });
  });

  test('nothing is taken while it is paused', async () => {
    const worked: string[] = [];
    await queue.pause();
    work(async ({ id }) => void worked.push(id ?? ''));
    await queue.add('a', {}, { jobId: 'b' });
    for (let i = 0; i < 10; i += 1) await setImmediate();
    expect(worked).toEqual([]);
    await queue.resume();
    await vi.waitFor(() => expect(worked).toEqual(['b']), PATIENCE);
  });

  test('a job that is being worked on cannot be removed', async () => {
    const gate = Promise.withResolvers<void>();
    work(() => gate.promise);
    await queue.add('a', {}, { jobId: 'b' });
    await untilCounted({ active: 1 });
    expect(await queue.remove('b')).toBe(0);
    gate.resolve();
    await untilCounted({ completed: 1 });
  });

  test('what happens to jobs is told, and how a job ended', async () => {
    const told = closedLater(
      new QueueEvents(queue.name, { connection: {} }, (name) => queue.getBackend().forQueue(name)),
    );
    const happened: string[] = [];
    for (const event of ['waiting', 'active', 'completed', 'failed', 'drained'] as const) {
      told.on(event, () => void happened.push(event));
    }
    await told.waitUntilReady();
    await setImmediate();
    work(async ({ data }) => data.n + 1);
    const job = await queue.add('a', { n: 1 });
    expect(await job.waitUntilFinished(told)).toBe(2);
    await vi.waitFor(() => expect(happened).toEqual(['waiting', 'active', 'completed', 'drained']), PATIENCE);
  });

  test('its history has a limited length, and is forgotten when asked', async () => {
    const backend = queue.getBackend();
    for (let i = 0; i < 2_100; i += 1) await queue.add('a', {}, { jobId: `j${i}`, delay: 60_000 });
    expect((await backend.readEvents('0', 1))?.[0]?.[1]).toHaveLength(2_000);
    await connection.forgetEvents(queue);
    expect(await backend.readEvents('0', 1)).toBeNull();
  });

  test('what it does not support is refused in words', async () => {
    const unsupported = /the queue in memory does not support/;
    await expect(queue.upsertJobScheduler('s', { every: 1_000 })).rejects.toThrow(unsupported);
    await expect(queue.setGlobalConcurrency(1)).rejects.toThrow(unsupported);
    await expect(queue.rateLimit(1_000)).rejects.toThrow(unsupported);
    await expect(queue.add('a', {}, { deduplication: { id: 'd' } })).rejects.toThrow(unsupported);
    await expect(queue.add('a', {}, { parent: { id: 'p', queue: 'q' } })).rejects.toThrow(unsupported);
    await expect((await queue.add('a', {})).updateProgress(1)).rejects.toThrow(unsupported);
    expect(() => connection.openWorker('q', async () => {}, { limiter: { max: 1, duration: 1 } })).toThrow(unsupported);
  });
});
