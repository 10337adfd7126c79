import { jobTimeoutMs } from '@slowwave/contracts';
import type { StudyHandler } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { workStudy } from './take.ts';

/** A model that is slow: with the default a job would have less time than two of its calls. */
const MODEL_TIMEOUT_MS = 900_000;
const TIMEOUT_MS = jobTimeoutMs('study', MODEL_TIMEOUT_MS);

afterEach(() => {
  vi.useRealTimers();
});

/** One job and what becomes of it. */
function stage(handler: StudyHandler, data: unknown = { lane: 'lane_a' }) {
  const moved: number[] = [];
  const closing = new AbortController();
  const job = { id: 'lane_a', data, moveToDelayed: async (at: number) => void moved.push(at) } as unknown as Job;
  const run = (isClosing = false): Promise<void> =>
    workStudy(
      { job, token: 'token', signal: closing.signal },
      { handler, isClosing: () => isClosing, modelTimeoutMs: MODEL_TIMEOUT_MS, log: recordingLog() },
    );
  return { run, moved, closing };
}

const cancelled: StudyHandler = (_lane, cancel) =>
  new Promise((_, reject) => cancel.addEventListener('abort', () => reject(new Error('cancelled'))));

describe('one job of studies', () => {
  test('ends when its lane has no study left', async () => {
    const handler = vi.fn<StudyHandler>(async () => null);
    const { run, moved } = stage(handler, { lane: 'lane_a', newer: true });
    await run();
    expect(handler.mock.calls[0]?.[0]).toBe('lane_a');
    expect(moved).toEqual([]);
  });

  test('comes back when its lane says so, and some seconds after a handler that threw', async () => {
    vi.useFakeTimers({ now: 1_000 });
    const later = stage(async () => 7_000);
    await expect(later.run()).rejects.toBeInstanceOf(DelayedError);
    const thrown = stage(() => Promise.reject(new Error('a bug')));
    await expect(thrown.run()).rejects.toBeInstanceOf(DelayedError);
    expect([later.moved, thrown.moved]).toEqual([[7_000], [6_000]]);
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

  test('is cancelled when its time is up, and tried again', async () => {
    vi.useFakeTimers({ now: 0 });
    const { run, moved } = stage(cancelled);
    const ended = expect(run()).rejects.toBeInstanceOf(DelayedError);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    await ended;
    expect(moved).toEqual([TIMEOUT_MS + 5_000]);
  });

  test.each([[null], [{}], [{ lane: '' }]])('with the payload %j fails', async (data) => {
    await expect(stage(async () => null, data).run()).rejects.toBeInstanceOf(UnrecoverableError);
  });
});
