import { expect, test } from 'vitest';
import { longPoll } from './long-poll.ts';

const never = new AbortController().signal;
const counter = (doneAt: number) => {
  let looks = 0;
  return async () => {
    looks += 1;
    return { done: looks >= doneAt, value: looks };
  };
};

test('it looks until it is done', async () => {
  expect(await longPoll(counter(3), 5_000, never)).toBe(3);
});

test('without time to wait it looks once', async () => {
  expect(await longPoll(counter(9), 0, never)).toBe(1);
});

test('when the time is up it returns what it saw last', async () => {
  expect(await longPoll(counter(1_000), 60, never)).toBeGreaterThan(1);
});

test('it stops when the caller is gone', async () => {
  const gone = new AbortController();
  const waiting = longPoll(counter(1_000_000), 600_000, gone.signal);
  gone.abort();
  expect(await waiting).toBe(1);
});
