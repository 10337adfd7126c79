import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from './api.ts';

import type { Stage } from './stage.ts';
import type { Story } from './story.ts';
import { studiesOf } from './studies.ts';

interface Stats {
  readonly batches: { readonly pending: number; readonly consolidating: number };
  readonly outbox: number;
}

/** Nothing takes longer to come to rest: not a lane that waits for a lost lock, a breaker, or a doubled delay. */
const QUIET_WITHIN_MS = 240_000;
const POLL_MS = 100;

/** Waits until nothing is under way and everything is searchable; null, or what is still under way when the time is up. */
export async function quiet(stage: Stage): Promise<string | null> {
  const { urls } = stage;
  const deadline = Date.now() + QUIET_WITHIN_MS;
  for (;;) {
    const answer = await attempt('GET', `${urls.search}/v1/stats`);
    if (answer?.status === 200 && isQuiet(answer.body as Stats)) return null;
    if (Date.now() > deadline) {
      return `after ${QUIET_WITHIN_MS / 1_000} s: ${JSON.stringify([answer, ...(await underWay(stage))])}`;
    }
    await sleep(POLL_MS);
  }
}

/** Some batches that are still under way, with what is known of each. */
async function underWay({ urls }: Stage): Promise<readonly unknown[]> {
  const lists = ['consolidating', 'pending'].map((state) => `${urls.console}/v1/batches?state=${state}&limit=3`);
  return await Promise.all(lists.map(async (url) => (await attempt('GET', url))?.body));
}

const isQuiet = ({ batches, outbox }: Stats): boolean =>
  batches.pending === 0 && batches.consolidating === 0 && outbox === 0;

/** Resolves when the batches have ended: with what they said being searchable, or parked. */
export async function untilEnded({ urls }: Stage, ids: readonly string[]): Promise<void> {
  const deadline = Date.now() + QUIET_WITHIN_MS;
  for (const id of ids) {
    while (Date.now() < deadline) {
      const answer = await attempt('GET', `${urls.ingest}/v1/batches/${id}?wait=5000`);
      const { stage, state } = (answer?.body ?? {}) as { stage?: string; state?: string };
      if (stage === 'done' || state === 'parked') break;
      await sleep(POLL_MS);
    }
  }
}

/** Waits until no study of what these said is under way; null, or what still is when the time is up. */
export async function untilStudied(stage: Stage, stories: readonly Story[]): Promise<string | null> {
  const deadline = Date.now() + QUIET_WITHIN_MS;
  for (const story of stories) {
    for (let waits = await waiting(stage, story); waits.length > 0; waits = await waiting(stage, story)) {
      if (Date.now() > deadline) return `studies after ${QUIET_WITHIN_MS / 1_000} s: ${waits.join(', ')}`;
      await sleep(POLL_MS);
    }
  }
  return null;
}

async function waiting(stage: Stage, story: Story): Promise<string[]> {
  const studies = [...(await studiesOf(stage, story)).values()].flat();
  return studies.filter(({ study }) => study?.state === 'pending').map(({ consolidation }) => consolidation);
}
