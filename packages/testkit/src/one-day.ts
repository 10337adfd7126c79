import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;

/**
 * Waits past midnight UTC if that is nearer than a test takes. What is counted by the day, and looked at on both sides of midnight, is
 * another figure.
 */
export async function onOneDay(testMs: number): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < testMs) await sleep(leftMs + 1);
}
