import { jobTimeoutMs } from '@slowwave/contracts';
import { EngineError, type SummaryHandler } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { workRefresh } from './take.ts';

/** A model that is slow: with the default a job would have less time than two of its calls. */
const MODEL_TIMEOUT_MS = 900_000;
const TIMEOUT_MS = jobTimeoutMs('summarize', MODEL_TIMEOUT_MS);

afterEach(() => {
  vi.useRealTimers();
});

/** One job and what becomes of it. */
function stage(handler: SummaryHandler, data: unknown = { lane: 'lane_a', scope: '7', upTo: 20 }) {
  const moved: number[] = [];
  const closing = new AbortController();
  const job = { id: 'lane_a~7~20', data, moveToDelayed: async (at: number) => void moved.push(at) } as unknown as Job;
  const run = (isClosing = false): Promise<void> =>
    workRefresh(
      { job, token: 'token', signal: closing.signal },
      { handler, isClosing: () => isClosing, modelTimeoutMs: MODEL_TIMEOUT_MS, log: recordingLog() },
    );
  return { run, moved, closing };
}

const failing = (facts: Partial<ConstructorParameters<typeof EngineError>[1]>): SummaryHandler => {
  const error = new EngineError('busy', { code: 'model_overloaded', retryable: true, ...facts });
  return () => Promise.reject(error);
};
const cancelled: SummaryHandler = (_refresh, cancel) =>
  new Promise((_, reject) => cancel.addEventListener('abort', () => reject(new Error('cancelled'))));

describe('one refresh', () => {
  test('that is made completes the job', async () => {
    const handler = vi.fn<SummaryHandler>(async () => {});
    await stage(handler, { lane: 'lane_a', scope: '7', upTo: 20, newer: true }).run();
    expect(handler.mock.calls[0]?.[0]).toEqual({ lane: 'lane_a', scope: '7', upTo: 20 });
  });

  test('that fails counts as a try', async () => {
    const { run, moved } = stage(failing({}));
    await expect(run()).rejects.toThrow('busy');
    await expect(stage(() => Promise.reject(new Error('a bug'))).run()).rejects.toThrow('a bug');
    expect(moved).toEqual([]);
  });

  test('that cannot succeed ends at once', async () => {
    await expect(stage(failing({ retryable: false })).run()).rejects.toBeInstanceOf(UnrecoverableError);
  });

  test('waits as long as the provider asks, which is no try', async () => {
    vi.useFakeTimers({ now: 1_000 });
    const { run, moved } = stage(failing({ retryAfterMs: 7_000 }));
    await expect(run()).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([8_000]);
  });

  test.each([
    ['as long as it was told to', { retryAfterMs: 60_000 }, 61_000],
    ['a little where nobody says how long', {}, 6_000],
  ])('that comes too early waits %s, which is no try', async (_name, told, at) => {
    vi.useFakeTimers({ now: 1_000 });
    const { run, moved } = stage(failing({ code: 'rate_limited', countsAsTry: false, ...told }));
    await expect(run()).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([at]);
  });

  test('that was cancelled, or taken in the moment of the close, goes back at once', async () => {
    vi.useFakeTimers({ now: 1_000 });
    const { run, moved, closing } = stage(cancelled);
    const running = run();
    closing.abort();
    await expect(running).rejects.toBeInstanceOf(DelayedError);
    await expect(stage(cancelled).run(true)).rejects.toBeInstanceOf(DelayedError);
    expect(moved).toEqual([1_000]);
  });

  test('is cancelled when its time is up, which counts as a try', async () => {
    vi.useFakeTimers({ now: 0 });
    const { run, moved } = stage(cancelled);
    const ended = expect(run()).rejects.toThrow('cancelled');
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    await ended;
    expect(moved).toEqual([]);
  });

  test.each([[null], [{}], [{ lane: 'lane_a', scope: '7' }]])('the payload %j fails the job', async (data) => {
    await expect(stage(async () => {}, data).run()).rejects.toBeInstanceOf(UnrecoverableError);
  });
});
