import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';

/** A connection that is not there cannot say goodbye: its timers are stopped at once, its end may never be told. */
const DISCONNECT_LIMIT_MS = 500;

/** Closes a queue, also while its server is away. */
export async function closeQueue(queue: Queue): Promise<void> {
  try {
    await queue.close();
  } catch {
    await Promise.race([queue.disconnect().catch(() => {}), sleep(DISCONNECT_LIMIT_MS)]);
  }
}
