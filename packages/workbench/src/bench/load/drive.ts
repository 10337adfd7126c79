import { setTimeout as sleep } from 'node:timers/promises';
import type { Post } from './poster.ts';

/** Bodies of requests, one after the other without end. */
export type Bodies = () => string;

const SECOND_MS = 1_000;

/** As fast as it goes over so many connections; answers with requests per second. */
export async function flatOut(
  post: Post,
  bodies: Bodies,
  { connections, ms }: { connections: number; ms: number },
): Promise<number> {
  const began = performance.now();
  const ends = began + ms;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < ends) {
      await post(bodies());
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return (done / (performance.now() - began)) * SECOND_MS;
}

/**
 * At a steady rate, however long the answers take. Answer times in ms count from when a request was due: one that could
 * not be sent because others were still waiting has waited too.
 */
export async function steadily(
  post: Post,
  bodies: Bodies,
  { rate, ms }: { rate: number; ms: number },
): Promise<number[]> {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  const began = performance.now();
  const count = Math.floor((rate * ms) / SECOND_MS);
  for (let i = 0; i < count; i += 1) {
    const dueAt = began + (i * SECOND_MS) / rate;
    const early = dueAt - performance.now();
    if (early > 0) await sleep(early);
    running.push(post(bodies()).then(() => void times.push(performance.now() - dueAt)));
  }
  await Promise.all(running);
  return times;
}
