import type { TurnState } from '@slowwave/engine';
import { type BackendFactory, Queue, Worker } from 'bullmq';
import { newPulse } from '../calls.ts';
import { QUEUE_OPTIONS, type QueueConnection } from '../connection.ts';
import { ASLEEP_MS } from '../jobs.ts';
import { memoryTurnOrder, UNPLACED } from '../order.ts';
import { MemoryBackend } from './backend.ts';
import { MemoryQueue } from './queue.ts';

const PLACE = 'this process';

/** Queues in the memory of this process: gone with it, and filled again from the ledger. */
export function memoryConnection(): QueueConnection {
  const queues = new Map<string, MemoryQueue>();
  let isClosed = false;
  const named = (name: string): MemoryQueue => {
    if (isClosed) throw new Error('it is closed');
    const queue = queues.get(name) ?? new MemoryQueue();
    queues.set(name, queue);
    return queue;
  };
  const backend: BackendFactory<MemoryBackend> = (name, options) => new MemoryBackend(name, named, options);
  const order = memoryTurnOrder(); // nobody else uses these queues
  return {
    place: PLACE,
    pulse: newPulse(),
    ready: async () => {},
    // The types of queues and workers name their backend; nothing above this line uses what only one of them has.
    openQueue: (name) => new Queue(name, { ...QUEUE_OPTIONS, connection: {} }, backend) as unknown as Queue,
    openWorker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection: {} }, backend) as unknown as Worker,
    turnOrder: () => order,
    waiting: () => ({
      unplaced: async (name, limit) =>
        named(name)
          .waitingAt(UNPLACED, limit)
          .map(({ id, data }) => ({ id, data: JSON.parse(data) })),
      place: async (name, placed) => {
        const queue = named(name);
        for (const { id, priority } of placed) {
          if (queue.stateOf(id) === 'waiting' && queue.get(id)?.priority === UNPLACED) queue.setPriority(id, priority);
        }
      },
    }),
    jobStates: () => async (name, ids) => ids.map((id) => turnStateOf(named(name), id)),
    jobsOfLane: () => async (name, lane) =>
      [...named(name).ids()].filter((id) => id === lane || id.startsWith(`${lane}~`)),
    forgetEvents: async ({ name }) => void named(name).events.trim(0),
    close: async () => {
      isClosed = true;
      queues.clear();
    },
  };
}

function turnStateOf(queue: MemoryQueue, id: string): TurnState {
  switch (queue.stateOf(id)) {
    case null:
      return 'absent';
    case 'active':
      return 'active';
    case 'waiting':
      return 'scheduled';
    case 'delayed':
      return queue.dueAt(id) > Date.now() + ASLEEP_MS ? 'asleep' : 'scheduled';
    default:
      return 'finished';
  }
}
