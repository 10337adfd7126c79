import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';

/** A goodbye takes milliseconds; a server that is silent never answers it. */
const GOODBYE_MS = 1_000;
/** A connection that is not there cannot say goodbye: its timers are stopped at once, its end may never be told. */
const DISCONNECT_LIMIT_MS = 500;

/** Closes a queue, also while its server is away or silent. */
export async function closeQueue(queue: Queue): Promise<void> {
  const closed = queue.close().then(
    () => true,
    () => false,
  );
  if (await inTime(closed, GOODBYE_MS)) if (await closed) return;
  await inTime(queue.disconnect(), DISCONNECT_LIMIT_MS);
}

/** Waits for an end, good or bad, as long as the limit says. */
export async function inTime(done: Promise<unknown>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const settled = done.then(
    () => true,
    () => true,
  );
  const late = sleep(limitMs, false, { signal: timer.signal }).catch(() => false);
  const won = await Promise.race([settled, late]);
  timer.abort();
  return won;
}
