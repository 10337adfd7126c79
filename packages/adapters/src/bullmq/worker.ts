import type {
  ErasureHandler,
  Log,
  Millis,
  Nudge,
  StudyHandler,
  SummaryHandler,
  TurnHandler,
  TurnName,
  TurnWorker,
} from '@slowwave/engine';
import type { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { workErasure } from './erasure.ts';
import { findPlace } from './find-place.ts';
import { type JobWorkerOptions, startJobWorker } from './job-worker.ts';
import { placeWaiting } from './order/placing.ts';
import { workRefresh } from './refresh.ts';
import { workStudy } from './study.ts';
import { workTurn } from './turn.ts';
import { addTurns, tenantIn } from './turns.ts';
import { callQueue } from './unavailable.ts';

export interface TurnWorkerOptions extends JobWorkerOptions {
  readonly handler: TurnHandler;
  /** When the lane is due, as the ledger says: a turn that comes too early takes nobody's place. */
  readonly dueAt?: (turn: TurnName) => Promise<Millis>;
}

export interface SummaryWorkerOptions extends JobWorkerOptions {
  readonly handler: SummaryHandler;
}

export interface StudyWorkerOptions extends JobWorkerOptions {
  readonly handler: StudyHandler;
}

export interface ErasureWorkerOptions extends JobWorkerOptions {
  readonly handler: ErasureHandler;
}

/** Takes due turns of lanes. */
export function startTurnWorker(options: TurnWorkerOptions): TurnWorker {
  const { connection, handler, log, dueAt = async () => 0 } = options;
  return startJobWorker(options, {
    name: 'consolidate',
    whenFull: (queue) =>
      callQueue(connection, () => {
        const [order, waiting] = [connection.turnOrder(queue), connection.waiting(queue)];
        return placeWaiting({ queue: queue.name, order, waiting }, tenantIn);
      }),
    run: (taken, { queue, isClosing }) =>
      workTurn(taken, {
        handler,
        nudgeNext: (next) => nudgeNext(queue, next, { connection, log }),
        place: (job, turn) =>
          callQueue(connection, () => findPlace(job, turn, { order: connection.turnOrder(queue), dueAt })),
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

/** Takes studies of lanes. */
export function startStudyWorker(options: StudyWorkerOptions): { close(): Promise<void> } {
  const { handler, log } = options;
  return startJobWorker(options, {
    name: 'study',
    run: (taken, { isClosing }) => workStudy(taken, { handler, isClosing, log }),
  });
}

/** Takes erasures. */
export function startErasureWorker(options: ErasureWorkerOptions): { close(): Promise<void> } {
  const { handler, log } = options;
  return startJobWorker(options, {
    name: 'erase',
    run: (taken, { isClosing }) => workErasure(taken, { handler, isClosing, log }),
  });
}

async function nudgeNext(
  queue: Queue,
  next: Nudge | null,
  { connection, log }: { connection: QueueConnection; log: Log },
): Promise<void> {
  if (next === null) return;
  await callQueue(connection, () => addTurns(queue, connection.turnOrder(queue), [next])).catch((error: Error) =>
    log.warn({ lane: next.lane, error: error.message }, 'could not nudge the next turn; the sweep will find it'),
  );
}
