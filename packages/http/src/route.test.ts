import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { longPoll, waitSignal } from './route.ts';

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

/** What waiting looks at of an answer that is not given yet. */
function answerTo(keyId: string): { reply: FastifyReply; hangUp: () => void } {
  const raw = new EventEmitter();
  const server = { stopping: new AbortController().signal };
  const reply = { raw, server, request: { principal: { keyId } } } as unknown as FastifyReply;
  return { reply, hangUp: () => raw.emit('close') };
}

test('a key that waits for very much is refused, until one of its callers is gone; others wait on', () => {
  const waiting = Array.from({ length: 500 }, () => answerTo('one'));
  for (const { reply } of waiting) expect(waitSignal(reply).aborted).toBe(false);
  expect(() => waitSignal(answerTo('one').reply)).toThrow(/this key already has 500 waiting requests/);
  const other = answerTo('other');
  const signal = waitSignal(other.reply);
  waiting[0]?.hangUp();
  expect(waitSignal(answerTo('one').reply).aborted).toBe(false);
  other.hangUp();
  expect(signal.aborted).toBe(true);
});
