import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayView } from '@slowwave/contracts';
import type { Ask } from '../api/ask.ts';
import type { Call } from '../command.ts';

const POLL_MS = 500;
const OVER: readonly ReplayView['state'][] = ['done', 'failed', 'discarded'];

/** Waits until a replay is over, and shows how far it is. */
export async function followReplay(
  { out, cancel }: Call,
  ask: Ask,
  { title, begun }: { readonly title: string; readonly begun: ReplayView },
): Promise<ReplayView> {
  const progress = out.progress({ title, unit: 'batches' });
  try {
    for (let replay = begun; ; ) {
      progress.update(replay.consolidated + replay.parked, replay.matched, replay.state);
      if (OVER.includes(replay.state)) return replay;
      await sleep(POLL_MS, null, { signal: cancel });
      replay = await ask<ReplayView>({ method: 'GET', path: `/v1/replays/${replay.id}` });
    }
  } finally {
    progress.stop();
  }
}
