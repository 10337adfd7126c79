import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { waitSignal } from './long-poll.ts';

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
  expect(() => waitSignal(answerTo('one').reply)).toThrow(/500 requests of this key wait already/);
  const other = answerTo('other');
  const signal = waitSignal(other.reply);
  waiting[0]?.hangUp();
  expect(waitSignal(answerTo('one').reply).aborted).toBe(false);
  other.hangUp();
  expect(signal.aborted).toBe(true);
});
