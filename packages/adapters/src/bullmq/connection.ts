import type { Processor, Queue, QueueOptions, Worker, WorkerOptions } from 'bullmq';
import type { JobStates } from './job-states.ts';
import type { JobsOfLane } from './jobs-of-lane.ts';
import type { Waiting } from './order/placing.ts';
import type { TurnOrder } from './order/turn-order.ts';
import { type CalledQueue, callQueue, newPulse, type Pulse } from './unavailable.ts';

/** Options of a worker that hold on every backend. */
export type SharedWorkerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>;

/** Options of a queue that hold on every backend. */
export const QUEUE_OPTIONS = {
  // Events are for views only, nothing is driven by them: a short history is enough.
  streams: { events: { maxLen: 2_000 } },
} as const satisfies Omit<QueueOptions, 'connection'>;

/** What keeps turns running goes before what only asks or tells about them, where they have to share one session. */
export type Line = 'work' | 'other';

/** A place that queues live in. Everything above it is the same for every backend. */
export interface QueueConnection extends CalledQueue {
  /** Which server it is, for messages; never with a password. */
  readonly place: string;
  /** Whether it answers. */
  readonly pulse: Pulse;
  /** Resolves when the server answers and is set up as a queue needs it; throws EngineError 'queue_unavailable'. */
  ready(): Promise<void>;
  /** The writing side: fails at once when the server is away. Works only after `ready`. */
  openQueue(name: string, line?: Line): Queue;
  /** The reading side: waits for the server as long as it takes. */
  openWorker(name: string, processor: Processor, options: SharedWorkerOptions): Worker;
  /** The order of turns, kept where the queue is. */
  turnOrder(queue: Queue): TurnOrder;
  /** The turns of a queue that are due. */
  waiting(queue: Queue): Waiting;
  /** What it knows of jobs of a queue. */
  jobStates(queue: Queue): JobStates;
  /** The jobs that are there of a lane. */
  jobsOfLane(queue: Queue): JobsOfLane;
  /** Removes the history of a queue, which tells in words why jobs failed, also of jobs that are gone. */
  forgetEvents(queue: Queue): Promise<void>;
  /** Called after every queue and worker of it is closed. */
  close(): Promise<void>;
}

/** A queue as such, for an operator's view of it. Its calls report their own errors. */
export function queueFor(connection: QueueConnection, name: string): Queue {
  const queue = connection.openQueue(name);
  queue.on('error', () => {}); // without a listener the library prints every reconnect to the console
  return queue;
}

/** Resolves when the queue's server answers; throws EngineError 'queue_unavailable' when it does not. */
export const checkQueue = (queue: Queue): Promise<void> =>
  callQueue({ place: queue.name, pulse: newPulse() }, async () => void (await queue.isPaused()));
