import { setImmediate } from 'node:timers/promises';
import { QUEUES } from '@slowwave/contracts';
import { EngineError, type Log, type Nudge, type Schedule } from '@slowwave/engine';
import type { QueueConnection } from './connection.ts';
import { openToWrite } from './open-queue.ts';
import { addTurns, hurryTurn, jobId, portions } from './turns.ts';

export interface OpenedSchedule extends Schedule {
  /** Jobs of turns by state, e.g. waiting, delayed, active. */
  jobs(): Promise<Readonly<Record<string, number>>>;
}

/** Opens the writing side of the queue; throws when the server is away or not set up as a queue needs it. */
export async function openSchedule(options: { connection: QueueConnection; log: Log }): Promise<OpenedSchedule> {
  const { call, close } = await openToWrite(options.connection, { name: QUEUES.consolidate.name, log: options.log });
  return {
    nudge: together(async (nudges) => {
      for (const portion of portions(nudges)) {
        await call((queue) => addTurns(queue, options.connection.turnOrder(queue), portion));
      }
    }),
    statesOf: (turns) => call((queue) => options.connection.jobStates(queue)(queue.name, turns.map(jobId))),
    hurry: (turn) => call((queue) => hurryTurn(queue, turn)),
    jobs: () => call((queue) => queue.getJobCounts(...COUNTED)),
    check: () => call(async (queue) => void (await queue.isPaused())),
    close,
  };
}

/** What is kept of ended jobs says nothing about the work there is. */
const COUNTED = ['wait', 'prioritized', 'delayed', 'active'] as const;

/** More than a queue takes in a few seconds. What is not told here the sweep finds in the ledger, when it can be taken. */
const LINE_MAX = 2_000;

interface Telling {
  readonly nudges: Nudge[];
  readonly done: Promise<void>;
}

/**
 * Tells what came up meanwhile in one go when the call before has ended: a queue that is busy gets longer calls, and not
 * more of them. While too many wait already more are refused at once.
 */
function together(tell: (nudges: readonly Nudge[]) => Promise<void>): Schedule['nudge'] {
  let told: Promise<unknown> = Promise.resolve();
  let next: Telling | null = null;
  const telling = async (nudges: readonly Nudge[]): Promise<void> => {
    await told;
    await setImmediate(); // what came up in the same tick
    next = null;
    await tell(nudges);
  };
  return async (nudges) => {
    if (nudges.length === 0) return;
    if (next !== null && next.nudges.length >= LINE_MAX) throw tooMany();
    if (next === null) {
      const first: Nudge[] = [];
      next = { nudges: first, done: telling(first) };
      told = next.done.catch(() => {}); // whoever asked hears of it
    }
    next.nudges.push(...nudges);
    await next.done;
  };
}

const tooMany = (): EngineError =>
  new EngineError(
    `expected the queue to take nudges as they come, but ${LINE_MAX} wait already; the sweep finds what it was not told`,
    { code: 'queue_unavailable', retryable: true, countsAsTry: false },
  );
