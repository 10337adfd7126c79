import type { JobJson } from 'bullmq';
import { expect, test } from 'vitest';
import { MemoryQueue } from './queue.ts';

/** A lock that has expired at once. */
const EXPIRED = { token: 'one', lockMs: 0, worker: undefined };

function taken(): MemoryQueue {
  const queue = new MemoryQueue();
  const counts = { attemptsMade: 0, attemptsStarted: 0, stalledCounter: 0 };
  queue.add({ name: 'turn', data: '{}', opts: {}, timestamp: Date.now(), ...counts } as unknown as JobJson, 'a');
  queue.take(EXPIRED);
  return queue;
}

test('a job is taken from its worker at the second look that finds its lock expired', () => {
  const queue = taken();
  expect(queue.takeFromStalled(1)).toEqual([]);
  expect(queue.stateOf('a')).toBe('active');
  expect(queue.takeFromStalled(1)).toEqual(['a']);
  expect(queue.stateOf('a')).toBe('waiting');
});

test('a worker that renews its lock between two looks keeps its job', () => {
  const queue = taken();
  queue.takeFromStalled(1);
  expect(queue.extendLock('a', 'one', 0)).toBe(true);
  expect(queue.takeFromStalled(1)).toEqual([]);
  expect(queue.extendLock('a', 'another', 60_000)).toBe(false);
  expect(queue.takeFromStalled(1)).toEqual(['a']);
});

test('a job is ended by the worker that has it alone', () => {
  const queue = taken();
  const ending = { state: 'completed', fields: {}, keep: undefined } as const;
  expect(() => queue.end('a', 'another', ending)).toThrow('locked by another worker');
  expect(queue.stateOf('a')).toBe('active');
  queue.end('a', 'one', ending);
  expect(queue.stateOf('a')).toBe('completed');
});
