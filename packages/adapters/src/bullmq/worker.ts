import type { Log, Nudge, SummaryHandler, TurnHandler, TurnWorker } from '@slowwave/engine';
import type { Queue } from 'bullmq';
import { type JobWorkerOptions, startJobWorker } from './job-worker.ts';
import { workRefresh } from './refresh.ts';
import { workTurn } from './turn.ts';
import { addTurns } from './turns.ts';
import { callQueue } from './unavailable.ts';

export interface TurnWorkerOptions extends JobWorkerOptions {
  readonly handler: TurnHandler;
}

export interface SummaryWorkerOptions extends JobWorkerOptions {
  readonly handler: SummaryHandler;
}

/** Takes due turns of lanes. */
export function startTurnWorker(options: TurnWorkerOptions): TurnWorker {
  const { connection, handler, log } = options;
  return startJobWorker(options, {
    name: 'consolidate',
    run: (taken, { queue, isClosing }) =>
      workTurn(taken, {
        handler,
        nudgeNext: (next) => nudgeNext(queue, next, { place: connection.place, log }),
        isClosing,
        log,
      }),
  });
}

/** Takes refreshes of summaries. */
export function startSummaryWorker(options: SummaryWorkerOptions): { close(): Promise<void> } {
  const { handler, log } = options;
  return startJobWorker(options, {
    name: 'summarize',
    run: (taken, { isClosing }) => workRefresh(taken, { handler, isClosing, log }),
  });
}

async function nudgeNext(queue: Queue, next: Nudge | null, { place, log }: { place: string; log: Log }): Promise<void> {
  if (next === null) return;
  await callQueue(place, () => addTurns(queue, [next])).catch((error: Error) =>
    log.warn({ lane: next.lane, error: error.message }, 'could not nudge the next turn; the sweep will find it'),
  );
}
