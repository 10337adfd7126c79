import { setTimeout as sleep } from 'node:timers/promises';
import { type QueueConnection, startTurnWorker } from '@slowwave/adapters/bullmq';
import { adoptIndex, type EngineDeps, type Schedule, sweepLanes, sweepOutbox, takeTurn } from '@slowwave/engine';

/** How often due lanes without a job and unprojected changes are looked for: what a lost nudge costs at most. */
const SWEEP_MS = 1_000;

export interface Work {
  /** Hands running turns back and stops. */
  close(): Promise<void>;
}

/** Everything a worker does: takes turns of lanes, and sweeps up what was missed. */
export async function startWork(
  deps: EngineDeps,
  { connection, schedule, concurrency }: { connection: QueueConnection; schedule: Schedule; concurrency: number },
): Promise<Work> {
  await adoptIndex(deps);
  const stopping = new AbortController();
  const sweeping = [
    repeat(deps, stopping.signal, async () => void (await sweepLanes(deps, schedule))),
    repeat(deps, stopping.signal, () => catchUp(deps, stopping.signal)),
  ];
  const worker = startTurnWorker({ connection, concurrency, handler: takeTurn(deps), log: deps.log });
  return {
    close: async () => {
      stopping.abort();
      await worker.close();
      await Promise.all(sweeping);
    },
  };
}

async function catchUp(deps: EngineDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await sweepOutbox(deps, stopping)) > 0);
}

/** Runs again and again until stopped; a failure is logged and does not end it. */
async function repeat({ log }: EngineDeps, stopping: AbortSignal, task: () => Promise<void>): Promise<void> {
  while (!stopping.aborted) {
    await task().catch((error: unknown) => {
      if (!stopping.aborted) log.warn({ error: String(error) }, 'a sweep failed; the next one is due in a second');
    });
    await sleep(SWEEP_MS, null, { signal: stopping }).catch(() => {});
  }
}
