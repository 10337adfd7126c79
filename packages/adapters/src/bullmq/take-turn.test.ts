import { jobTimeoutMs } from '@slowwave/contracts';
import { EngineError, type Nudge, type TurnHandler, type Verdict } from '@slowwave/engine';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { slots, slottedEmbedder } from '../limits/index.ts';
import { FRONT, UNPLACED } from './jobs.ts';
import { type Place, workTurn } from './take.ts';

const NEXT = newNudge('lane_a', { generation: 2 });

/** A model that is slow: with the default a job would have less time than two of its calls. */
const MODEL_TIMEOUT_MS = 900_000;
const TIMEOUT_MS = jobTimeoutMs('consolidate', MODEL_TIMEOUT_MS);

afterEach(() => {
  vi.useRealTimers();
});

const NO_USE = { promptTokens: 0, completionTokens: 0 };
const BEGINS: Place = { kind: 'begins' };

/** One job and what becomes of it. */
function stage(handler: TurnHandler, data: unknown = { lane: 'lane_a', generation: 1 }, place: Place | null = BEGINS) {
  const moved: number[] = [];
  const nudged: (Nudge | null)[] = [];
  const log = recordingLog();
  const closing = new AbortController();
  const job = {
    id: 'lane_a~1',
    data,
    priority: 7,
    changePriority: async (to: { priority: number }) => {
      job.priority = to.priority;
    },
    moveToDelayed: async (at: number) => void moved.push(at),
  };
  const run = (isClosing = false): Promise<void> =>
    workTurn(
      { job: job as unknown as Job, token: 'token', signal: closing.signal },
      {
        handler,
        place: () => (place === null ? Promise.reject(new Error('the server is away')) : Promise.resolve(place)),
        nudgeNext: async (next) => void nudged.push(next),
        isClosing: () => isClosing,
        modelTimeoutMs: MODEL_TIMEOUT_MS,
        log,
      },
    );
  return { run, job, moved, nudged, log, closing };
}

const saying = (verdict: Verdict): TurnHandler => vi.fn(async () => verdict);
const cancelled: TurnHandler = (_turn, cancel) =>
  new Promise((_, reject) => cancel.addEventListener('abort', () => reject(new Error('cancelled'))));

describe('one turn', () => {
  test('done nudges the next turn and completes the job', async () => {
    const { run, moved, nudged } = stage(saying({ kind: 'done', next: NEXT }));
    await run();
    expect(nudged).toEqual([NEXT]);
    expect(moved).toEqual([]);
  });

  test('later puts the job back until then, without the place it had', async () => {
    const { run, job, moved } = stage(saying({ kind: 'later', at: 77 }));
    await expect(run()).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([77]);
    expect(job.priority).toBe(UNPLACED);
  });

  test('a turn whose lane is due later goes back without being begun', async () => {
    const handler = saying({ kind: 'done', next: null });
    const { run, moved } = stage(handler, undefined, { kind: 'waits', until: 88 });
    await expect(run()).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([88]);
    expect(handler).not.toHaveBeenCalled();
  });

  test('a turn begins when nobody can say what is due before it', async () => {
    const { run, nudged } = stage(saying({ kind: 'done', next: NEXT }), undefined, null);
    await run();
    expect(nudged).toEqual([NEXT]);
  });

  test('parked nudges the next turn and fails the job with the reason', async () => {
    const { run, nudged } = stage(saying({ kind: 'parked', reason: 'poison', next: NEXT }));
    const failed = run();
    await expect(failed).rejects.toThrow('poison');
    await expect(failed).rejects.toBeInstanceOf(UnrecoverableError);
    expect(nudged).toEqual([NEXT]);
  });

  test('a handler that throws gets the turn again after a while', async () => {
    vi.useFakeTimers({ now: 1_000 });
    const { run, moved } = stage(() => Promise.reject(new Error('a bug')));
    await expect(run()).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([6_000]);
  });

  test('a turn that was cancelled goes back at once, and before all others', async () => {
    vi.useFakeTimers({ now: 1_000 });
    const { run, job, moved, closing } = stage(cancelled);
    const running = run();
    await vi.advanceTimersByTimeAsync(0); // it has begun
    closing.abort();
    await expect(running).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([1_000]);
    expect(job.priority).toBe(FRONT);
  });

  test('a turn is cancelled when its time is up, and tried again', async () => {
    vi.useFakeTimers({ now: 0 });
    const { run, moved, log } = stage(cancelled);
    const ended = expect(run()).rejects.toBeInstanceOf(DelayedError);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    await ended;
    expect(moved).toEqual([TIMEOUT_MS + 5_000]);
    expect(log.lines[0]?.message).toContain('the limit of one turn');
  });

  test('a turn that stands in line for a model has all its time still when it is served', async () => {
    vi.useFakeTimers({ now: 0 });
    const never = new AbortController().signal;
    const ahead = Promise.withResolvers<{ vectors: []; usage: typeof NO_USE }>();
    const asked: string[] = [];
    const embedder = slottedEmbedder(
      {
        fingerprint: 'one',
        dimensions: 1,
        embed: ([text = ''], cancel) => {
          asked.push(text);
          const cutOff = new Promise<never>((_, reject) =>
            cancel.addEventListener('abort', () => reject(new Error('cut off'))),
          );
          return text === 'ahead' ? ahead.promise : cutOff;
        },
      },
      slots(1),
    );
    void embedder.embed(['ahead'], never);
    const { run, moved } = stage(async (_turn, cancel) => {
      await embedder.embed(['own'], cancel);
      return { kind: 'done', next: null };
    });
    const ended = expect(run()).rejects.toBeInstanceOf(DelayedError);
    await vi.advanceTimersByTimeAsync(3 * TIMEOUT_MS);
    expect(moved, 'not cut off in the line').toEqual([]);
    ahead.resolve({ vectors: [], usage: NO_USE });
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
    expect([asked, moved]).toEqual([['ahead', 'own'], []]);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(moved).toEqual([4 * TIMEOUT_MS + 5_000]);
  });

  test('the handler is told why: its time was up, or the worker stops', async () => {
    vi.useFakeTimers({ now: 0 });
    const reasons: unknown[] = [];
    const listening: TurnHandler = (turn, cancel) => cancelled(turn, cancel).finally(() => reasons.push(cancel.reason));
    const timedOut = expect(stage(listening).run()).rejects.toBeInstanceOf(DelayedError);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    await timedOut;
    const stopped = stage(listening);
    const running = expect(stopped.run()).rejects.toBeInstanceOf(DelayedError);
    await vi.advanceTimersByTimeAsync(0); // it has begun
    stopped.closing.abort('closing');
    await running;
    expect(reasons[0]).toBeInstanceOf(EngineError);
    expect(reasons[0]).toMatchObject({ code: 'model_timeout', retryable: true });
    expect(reasons[1]).toBe('closing');
  });

  test('a turn cancelled while its place is asked for goes back without being begun', async () => {
    const handler = saying({ kind: 'done', next: null });
    const { run, moved, closing } = stage(handler);
    const running = run();
    closing.abort();
    await expect(running).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toHaveLength(1);
    expect(handler).not.toHaveBeenCalled();
  });

  test('a turn taken in the moment of the close goes back without being begun', async () => {
    const handler = saying({ kind: 'done', next: null });
    const { run, moved } = stage(handler);
    await expect(run(true)).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toHaveLength(1);
    expect(handler).not.toHaveBeenCalled();
  });

  test('optional fields of a newer release are no obstacle', async () => {
    const handler = vi.fn<TurnHandler>(async () => ({ kind: 'done', next: null }));
    await stage(handler, { lane: 'lane_a', generation: 1, newer: true }).run();
    expect(handler.mock.calls[0]?.[0]).toEqual({ lane: 'lane_a', generation: 1 });
  });

  test.each([[null], [{}], [{ lane: 'lane_a', generation: 0 }]])('the payload %j fails the job', async (data) => {
    const { run } = stage(saying({ kind: 'done', next: null }), data);
    await expect(run()).rejects.toBeInstanceOf(UnrecoverableError);
  });
});
