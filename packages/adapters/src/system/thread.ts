import { constants, setPriority } from 'node:os';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { reviveError, type ThreadMessage, type ThreadRequest } from './thread-host.ts';

/** A worker thread that answers calls: how blocking libraries are kept off the event loop. */
export interface Thread {
  call<T>(method: string, ...args: unknown[]): Promise<T>;
  /** Messages the thread sends without being asked. */
  onNotice(listener: (notice: unknown) => void): void;
  /** Resolves when the thread has ended, however it did. */
  readonly gone: Promise<void>;
  /** Resolves when everything called before is answered and the thread has ended. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** How long a thread that has closed what it had open may take to end; it is stopped by force after it. */
const LEAVE_WITHIN_MS = 5_000;

/** Threads that have not ended yet. */
const running = new Set<{ close(): Promise<void> }>();

/** Closes all threads of this process, for one that is about to end: one that ends in the middle of them may crash. */
export async function closeThreads(): Promise<void> {
  await Promise.allSettled([...running].map((thread) => thread.close()));
}

/**
 * Lets processes that somebody waits for go first on a full machine: searching and posting come before consolidating.
 * Threads that are started later inherit it.
 */
export const giveWay = (): void => setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

/** Starts `script` with `init`; resolves when it is ready, rejects with its error when it could not start. */
export async function startThread(script: URL, init: unknown, resourceLimits: ResourceLimits = {}): Promise<Thread> {
  const worker = new Worker(script, { workerData: init, resourceLimits });
  const { send, onNotice, hasEnded, gone } = conversationWith(worker);
  const ready = send('ready', []);
  const close = async (): Promise<void> => {
    try {
      await ready.catch(() => {}); // one that could not start leaves by itself
      if (!hasEnded()) await send('close', []);
    } finally {
      await left(worker, gone);
    }
  };
  let closing: Promise<void> | null = null;
  const thread: Thread = {
    call: async <T>(method: string, ...args: unknown[]) => (await send(method, args)) as T,
    onNotice,
    gone,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
  running.add(thread);
  void gone.then(() => running.delete(thread));
  try {
    await ready;
  } catch (error) {
    await left(worker, gone);
    throw error;
  }
  return thread;
}

/** Calls to a thread, each with its answer, until it ends. */
function conversationWith(worker: Worker) {
  const waiting = new Map<number, Waiting>();
  const listeners: ((notice: unknown) => void)[] = [];
  const post = together<ThreadRequest>(
    (requests) => worker.postMessage(requests),
    (error, { id }) => take(waiting, id)?.reject(error),
  );
  let last = 0;
  let ended: Error | null = null;

  const send = (method: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended);
      last += 1;
      waiting.set(last, { resolve, reject });
      post({ id: last, method, args });
    });
  const end = (error: Error): void => {
    ended ??= error;
    for (const call of waiting.values()) call.reject(ended);
    waiting.clear();
  };
  const receive = (message: ThreadMessage): void => {
    if (message.kind === 'notice') {
      for (const listener of listeners) listener(message.notice);
      return;
    }
    const call = take(waiting, message.id);
    if (message.kind === 'answer') call?.resolve(message.value);
    else call?.reject(reviveError(message.error));
  };
  worker.on('message', (messages: readonly ThreadMessage[] | object) => {
    // Under --watch Node.js reports the files a thread loads by the same way.
    if (Array.isArray(messages)) messages.forEach(receive);
  });
  worker.on('error', end);
  const gone = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      end(new Error('the thread has ended'));
      resolve();
    });
  });
  const onNotice = (listener: (notice: unknown) => void): void => void listeners.push(listener);
  return { send, onNotice, hasEnded: () => ended !== null, gone };
}

/**
 * Waits until a thread has ended by itself. Stopping it by force is for one that does not: a thread that is stopped while it
 * loads its code or is inside SQLite takes the whole process with it.
 */
async function left(worker: Worker, gone: Promise<void>): Promise<void> {
  const late = setTimeout(() => void worker.terminate(), LEAVE_WITHIN_MS);
  await gone;
  clearTimeout(late);
}

function take(waiting: Map<number, Waiting>, id: number): Waiting | undefined {
  const call = waiting.get(id);
  waiting.delete(id);
  return call;
}

/** Posts what one turn of the event loop has to say as one message: a message costs more than what is in it. */
function together<T>(post: (items: readonly T[]) => void, refused: (error: Error, item: T) => void): (item: T) => void {
  let gathered: T[] = [];
  const postOne = (item: T): void => {
    try {
      post([item]);
    } catch (error) {
      refused(error instanceof Error ? error : new Error(String(error)), item);
    }
  };
  const flush = (): void => {
    const items = gathered;
    gathered = [];
    try {
      post(items);
    } catch {
      items.forEach(postOne); // one of them cannot be sent to a thread; only that one fails
    }
  };
  return (item) => {
    if (gathered.length === 0) setImmediate(flush);
    gathered.push(item);
  };
}
