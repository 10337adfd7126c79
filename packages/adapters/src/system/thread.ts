import { type ResourceLimits, Worker } from 'node:worker_threads';
import { reviveError, type ThreadMessage, type ThreadRequest } from './thread-protocol.ts';

/** A worker thread that answers calls: how blocking libraries are kept off the event loop. */
export interface Thread {
  call<T>(method: string, ...args: unknown[]): Promise<T>;
  /** Messages the thread sends without being asked. */
  onNotice(listener: (notice: unknown) => void): void;
  /** Resolves when everything called before is answered and the thread has ended. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Starts `script` with `init`; resolves when it is ready, rejects with its error when it could not start. */
export async function startThread(script: URL, init: unknown, resourceLimits: ResourceLimits = {}): Promise<Thread> {
  const worker = new Worker(script, { workerData: init, resourceLimits });
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
  worker.on('message', (messages: readonly ThreadMessage[]) => messages.forEach(receive));
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the thread has ended')));

  const ready = send('ready', []);
  await ready.catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  });
  return {
    call: async <T>(method: string, ...args: unknown[]) => (await send(method, args)) as T,
    onNotice: (listener) => void listeners.push(listener),
    close: async () => {
      if (ended !== null) return;
      await send('close', []);
      await worker.terminate();
    },
  };
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
