import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelServer } from '@slowwave/testkit';
import type { Fleet } from './fleet.ts';

const LOOK_AGAIN_MS = 5;
/** The question has only just come: the kill hits it before its answer. */
const FRESH_MS = 20;
const BUSY_WITHIN_MS = 30_000;

/** kill -9 of a worker while the model thinks about at least one of its questions. */
export async function killInTheMiddle(fleet: Fleet, model: ModelServer, n: number): Promise<void> {
  const key = fleet.workers[n] ?? '';
  const underWay = () =>
    model.calls.filter(({ apiKey, endedAt, at }) => apiKey === key && endedAt === null && Date.now() - at < FRESH_MS);
  for (const giveUp = Date.now() + BUSY_WITHIN_MS; underWay().length === 0; await sleep(LOOK_AGAIN_MS)) {
    if (Date.now() > giveUp)
      throw new Error(`expected worker ${n} to ask the model within ${BUSY_WITHIN_MS} ms, it did not`);
  }
  await fleet.killWorker(n);
}
