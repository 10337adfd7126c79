import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { problem } from './errors.ts';

/** Short at first, for batches that are nearly done; then longer, so that many waiting callers stay cheap. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
const GROWTH = 1.5;

export interface Polled<T> {
  readonly done: boolean;
  readonly value: T;
}

/** Checks until it is done, the time is up or the signal aborts, and returns the last value. Checks at least once. */
export async function longPoll<T>(check: () => Promise<Polled<T>>, waitMs: number, signal: AbortSignal): Promise<T> {
  const until = performance.now() + waitMs;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const { done, value } = await check();
    const left = until - performance.now();
    if (done || left <= 0 || signal.aborted) return value;
    await pauseFor(Math.min(pause, left), signal);
    pause = Math.min(pause * GROWTH, LONGEST_PAUSE_MS);
  }
}

/** Waiting requests of one key per process: each polls the ledger. */
const WAITING_MAX = 500;
const waiting = new Map<string, number>();

/**
 * Aborts when the caller disconnects or the service stops. Throws a problem if too many requests of the same key are
 * already waiting.
 */
export function waitSignal(reply: FastifyReply): AbortSignal {
  const who = reply.request.principal?.keyId ?? '';
  const others = waiting.get(who) ?? 0;
  if (others >= WAITING_MAX) throw tooManyWait();
  waiting.set(who, others + 1);
  const gone = new AbortController();
  const leave = (): void => {
    gone.abort();
    const left = (waiting.get(who) ?? 1) - 1;
    if (left > 0) waiting.set(who, left);
    else waiting.delete(who);
  };
  // Whoever hung up before this was reached is not heard any more.
  if (reply.raw.closed) leave();
  else reply.raw.once('close', leave);
  return AbortSignal.any([gone.signal, reply.server.stopping]);
}

const tooManyWait = () =>
  problem(
    'too_many_requests',
    `this key already has ${WAITING_MAX} waiting requests, which is the limit; send the ` +
      'request without wait, or retry later',
    {
      headers: { 'retry-after': '1' },
    },
  );

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
