import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Short at first, for what is about to be done; then rarer, so that many waiting callers stay cheap. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
const GROWTH = 1.5;

export interface Polled<T> {
  readonly done: boolean;
  readonly value: T;
}

/** Looks until it is done, the time is up or the signal aborts, and returns what was seen last. Looks at least once. */
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

/** Aborts when the caller hangs up, or when the service stops and waiting would hold it up. */
export function waitSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, reply.server.stopping]);
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
