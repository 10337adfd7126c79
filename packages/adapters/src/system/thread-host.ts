import { parentPort, workerData } from 'node:worker_threads';
import { flattenError, type ThreadMessage, type ThreadRequest } from './thread-protocol.ts';

/** One call a thread has to answer, exactly once. */
export interface ThreadCall {
  readonly method: string;
  readonly args: unknown[];
  answer(value: unknown): void;
  fail(error: unknown): void;
}

export interface ThreadHost {
  /** Takes one call; may answer it later, together with others. */
  receive(call: ThreadCall): void;
  /** Everything received is answered when this resolves. */
  close(): Promise<void> | void;
}

/** The inside of a thread started by startThread: sets itself up once, then receives calls. */
export function hostThread<Init>(setUp: (init: Init) => ThreadHost | Promise<ThreadHost>): void {
  const port = parentPort;
  if (port === null) throw new Error('this file runs as a worker thread, started by startThread');
  const host = Promise.resolve().then(() => setUp(workerData as Init));
  host.catch(() => {}); // told to the caller by the answer to 'ready'
  port.on('message', (request: ThreadRequest) => {
    const call = callOf(request);
    host.then((ready) => handle(ready, call)).catch((error: unknown) => call.fail(error));
  });
}

/** Sends a message nobody asked for. */
export function notify(notice: unknown): void {
  parentPort?.postMessage({ kind: 'notice', notice } satisfies ThreadMessage);
}

/** A host whose methods answer one call each. */
export function methodHost(
  methods: Readonly<Record<string, (...args: never[]) => unknown>>,
  close: () => Promise<void> | void,
): ThreadHost {
  return {
    close,
    receive: (call) => {
      const method = methods[call.method];
      if (method === undefined) return call.fail(new Error(`the thread has no method ${call.method}`));
      Promise.resolve()
        .then(() => method(...(call.args as never[])))
        .then(call.answer, call.fail);
    },
  };
}

async function handle(host: ThreadHost, call: ThreadCall): Promise<void> {
  if (call.method === 'ready') return call.answer(null);
  if (call.method !== 'close') return host.receive(call);
  await host.close();
  call.answer(null);
}

function callOf({ id, method, args }: ThreadRequest): ThreadCall {
  const post = (message: ThreadMessage): void => parentPort?.postMessage(message);
  return {
    method,
    args,
    answer: (value) => post({ kind: 'answer', id, value }),
    fail: (error) => post({ kind: 'failure', id, error: flattenError(error) }),
  };
}
