import { setTimeout as sleep } from 'node:timers/promises';
import { takeTurn } from '@slowwave/engine';
import { echoExtract, engineBench, fakeChat, NEVER, newNudge, recordingLog } from '@slowwave/engine-testing';
import { startRedis, startTcpProxy } from '@slowwave/testkit';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import {
  openFollowUps,
  openSchedule,
  redisConnection,
  startStudyWorker,
  startTurnWorker,
} from '../src/bullmq/index.ts';
import { limitedChat, memoryLimiter, redisLimiter } from '../src/limits/index.ts';
import { redisVectors } from '../src/redis.ts';

/** A lost lock is noticed after half a minute at the latest; a busy machine takes its time. */
const PATIENCE = { timeout: 90_000, interval: 100 };
const WITHIN_MS = 150_000;
/** Of two calls on a silent connection: the later one then has time left when the connection is made anew. */
const SENT_AFTER_MS = 1_500;
/** Longer than a turn that was seen to have its lane is believed to have it. */
const HELD_UP_MS = 2_000;
const NEW_ONES_SILENT_MS = 15_000;
/** Longer than any test: a stop that waits for turns to be handed to a silent server fails. */
const HAND_OVER_MS = 10 * WITHIN_MS;
const log = recordingLog();

/** A Redis of its own for each test, behind a proxy: they wait most of the time, and do so side by side. */
async function place({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const redis = await startRedis();
  const proxy = await startTcpProxy({ to: redis.port });
  onTestFinished(async () => {
    await proxy.close();
    await redis.stop();
  });
  return { proxy, url: `redis://127.0.0.1:${proxy.port}` };
}

/** A worker behind the proxy whose connections are all in use, and a user with something to remember. */
async function scene(context: Pick<TestContext, 'onTestFinished'>) {
  const { proxy, url } = await place(context);
  const connection = redisConnection(url);
  const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  const schedule = await openSchedule({ connection, log });
  const begun: string[] = [];
  let gate = Promise.resolve();
  const turn = takeTurn(bench.deps);
  const worker = startTurnWorker({
    connection,
    concurrency: 2,
    handOverMs: HAND_OVER_MS,
    handler: async (name, cancel) => {
      begun.push(name.lane);
      await gate;
      return turn(name, cancel);
    },
    log,
  });
  const post = async (userId: string): Promise<void> => {
    await bench.post([`lives: in the place of ${userId}`], { userId });
    const due = await bench.deps.ledger.lanes.due(bench.tools.now(), 10);
    await vi.waitFor(() => schedule.nudge(due), PATIENCE);
  };
  const untilRemembered = (userId: string) =>
    vi.waitFor(async () => expect(await bench.live(userId)).toEqual([`lives: in the place of ${userId}`]), PATIENCE);
  /** Turns that begin wait until it is called. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  await post('first');
  await untilRemembered('first');
  const close = async () => {
    await Promise.all([worker.close(), schedule.close()]);
    await connection.close();
  };
  return { ...bench, proxy, connection, schedule, worker, begun, hold, post, untilRemembered, close };
}

describe.concurrent('a Redis whose connections fall silent', () => {
  test.for(['nothing', 'questions'] as const)(
    'goes on being worked with on new connections, when %s gets through on the old',
    { timeout: WITHIN_MS },
    async (passing, context) => {
      const { proxy, connection, post, untilRemembered, schedule, close } = await scene(context);
      proxy.silence(passing);
      await context.expect.poll(() => connection.pulse.isSilent(), PATIENCE).toBe(true);
      await post('second');
      await untilRemembered('second');
      await vi.waitFor(() => schedule.check(), PATIENCE);
      expect(connection.pulse.isSilent()).toBe(false);
      await context.expect.poll(() => proxy.silenced(), PATIENCE).toBe(0);
      await close();
    },
  );

  test('a turn that runs meanwhile ends, once, and the next one begins', { timeout: WITHIN_MS }, async (context) => {
    const { proxy, post, untilRemembered, hold, begun, close, deps, tools } = await scene(context);
    const go = hold();
    await post('second');
    await vi.waitFor(() => expect(begun).toHaveLength(2), PATIENCE);
    proxy.silence('nothing');
    go();
    await untilRemembered('second');
    await post('third');
    await untilRemembered('third');
    expect(await deps.ledger.lanes.due(tools.now(), 10)).toEqual([]);
    await close();
  });

  test('comes back when new connections are silent too, and then are not', { timeout: WITHIN_MS }, async (context) => {
    const { proxy, post, untilRemembered, schedule, connection, close } = await scene(context);
    proxy.silence('nothing');
    proxy.silenceNew('nothing');
    setTimeout(() => proxy.silenceNew('all'), NEW_ONES_SILENT_MS);
    await context.expect.poll(() => connection.pulse.isSilent(), PATIENCE).toBe(true);
    await expect(schedule.check()).rejects.toMatchObject({ code: 'queue_unavailable' });
    await post('second');
    await untilRemembered('second');
    await close();
  });

  test('a limiter and a cache of vectors are answered again, too', { timeout: WITHIN_MS }, async (context) => {
    const { proxy, url } = await place(context);
    const limiter = redisLimiter(url, { requestsPerMinute: 60, tokensPerMinute: null });
    const vectors = redisVectors(url, log);
    const found = async () => {
      vectors.put('key', new Float32Array([1, 2]));
      return vectors.get('key');
    };
    const granted = () => limiter.reserve('model', 1);
    await context.expect.poll(found, PATIENCE).toEqual(new Float32Array([1, 2]));
    expect(await granted()).toMatchObject({ kind: 'granted' });
    proxy.silence('nothing');
    await vi.waitFor(async () => expect(await granted()).toMatchObject({ kind: 'granted' }), PATIENCE);
    await context.expect.poll(found, PATIENCE).toEqual(new Float32Array([1, 2]));
    await Promise.all([limiter.close(), vectors.close()]);
  });

  test.for([
    ['counts', { requestsPerMinute: 60, tokensPerMinute: null }],
    ['only looks', { requestsPerMinute: null, tokensPerMinute: null }],
  ] as const)(
    'a call of a limiter that %s is answered on the connection after it',
    { timeout: WITHIN_MS },
    async ([_how, max], context) => {
      const { proxy, url } = await place(context);
      const limiter = redisLimiter(url, max);
      expect(await limiter.reserve('one', 1)).toMatchObject({ kind: 'granted' });
      proxy.silence('nothing');
      expect(await limiter.reserve('another', 1)).toMatchObject({ kind: 'granted' });
      await limiter.close();
    },
  );

  test('a question that is held up meanwhile is not asked when another worker has its answer', {
    timeout: WITHIN_MS,
  }, async (context) => {
    const unlimited = { requestsPerMinute: null, tokensPerMinute: null };
    const { proxy, url } = await place(context);
    const limiter = redisLimiter(url, unlimited);
    const model = fakeChat({ extract_facts: echoExtract });
    const bench = await engineBench({ chat: limitedChat(model, { limiter, log }) });
    await limiter.reserve('some', 1);
    await bench.post(['lives: in Oslo']);
    const [nudge] = await bench.deps.ledger.lanes.due(bench.tools.now(), 1);
    if (nudge === undefined) throw new Error('expected one lane that is due, got none');
    proxy.silence('nothing');
    // Its end makes the connection anew, on which the one that is sent after it is granted.
    const first = limiter.reserve('another', 1).catch(() => null);
    await sleep(SENT_AFTER_MS);
    const late = takeTurn(bench.deps)(nudge, NEVER);
    await context.expect.poll(async () => (await bench.deps.ledger.lanes.get(nudge.lane))?.epoch, PATIENCE).toBe(1);
    const elsewhere = limitedChat(model, { limiter: memoryLimiter(unlimited), log });
    expect(await takeTurn({ ...bench.deps, chat: elsewhere })(nudge, NEVER)).toEqual({ kind: 'done', next: null });
    bench.tools.advance(HELD_UP_MS);
    await Promise.all([first, late]);
    expect(model.calls.map(({ name }) => name)).toEqual(['extract_facts']);
    expect(await bench.live()).toEqual(['lives: in Oslo']);
    await limiter.close();
  });

  test('a worker that is told to stop meanwhile stops without waiting for it', {
    timeout: WITHIN_MS,
  }, async (context) => {
    const { proxy, connection, post, hold, begun, worker, schedule } = await scene(context);
    const followUps = await openFollowUps({ connection, log });
    const studies = startStudyWorker({ connection, concurrency: 1, handler: async () => null, log });
    const go = hold();
    await post('second');
    await vi.waitFor(() => expect(begun).toHaveLength(2), PATIENCE);
    proxy.silence('nothing');
    proxy.silenceNew('nothing');
    await Promise.all([worker.close(), studies.close()]);
    await Promise.all([followUps.close(), schedule.close()]);
    go();
  });

  test('one that refuses is not silent: to start anew would mend nothing', { timeout: WITHIN_MS }, async (context) => {
    const { proxy, connection, schedule, worker } = await scene(context);
    proxy.silence('nothing');
    await context.expect.poll(() => connection.pulse.isSilent(), PATIENCE).toBe(true);
    await proxy.close();
    await context.expect.poll(() => connection.pulse.isSilent(), PATIENCE).toBe(false);
    await expect(schedule.nudge([newNudge('lane_a')])).rejects.toMatchObject({ code: 'queue_unavailable' });
    await Promise.all([worker.close(), schedule.close()]);
  });
});
