import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Destination, EngineErrorCode } from '@slowwave/engine';
import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';

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

/**
 * The inside of a thread started by startThread: sets itself up once, then receives calls. It ends by itself, when it is
 * closed or could not be set up.
 */
export function hostThread<Init>(setUp: (init: Init) => ThreadHost | Promise<ThreadHost>): void {
  const port = parentPort;
  if (port === null) throw new Error('this file runs as a worker thread, started by startThread');
  const host = Promise.resolve().then(() => setUp(workerData as Init));
  host.catch(() => {}); // the caller learns of it from the answer to 'ready'
  port.on('message', (requests: readonly ThreadRequest[]) => {
    const calls = requests.map(callOf);
    const failAll = (error: unknown): void => {
      for (const call of calls) call.fail(error);
      leave();
    };
    host.then((ready) => calls.forEach((call) => void handle(ready, call))).catch(failAll);
  });
}

/** Nothing but this port keeps the thread alive. What was said before still arrives. */
function leave(): void {
  queueMicrotask(() => parentPort?.close());
}

/** Sends a message nobody asked for. */
export function notify(notice: unknown): void {
  post({ kind: 'notice', notice });
}

let gathered: ThreadMessage[] = [];

/** What is said in one go is one message: a message costs more than what is in it. */
function post(message: ThreadMessage): void {
  if (gathered.length === 0) queueMicrotask(flush);
  gathered.push(message);
}

function flush(): void {
  const messages = gathered;
  gathered = [];
  try {
    parentPort?.postMessage(messages);
  } catch {
    messages.forEach(postOne);
  }
}

/** What cannot be sent to another thread is a failure of that call alone. */
function postOne(message: ThreadMessage): void {
  try {
    parentPort?.postMessage([message]);
  } catch (error) {
    if (message.kind === 'notice') throw error;
    parentPort?.postMessage([{ kind: 'failure', id: message.id, error: flattenError(error) }]);
  }
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
  try {
    if (call.method === 'ready') return call.answer(null);
    if (call.method === 'close') return await close(host, call);
    host.receive(call);
  } catch (error) {
    call.fail(error);
  }
}

async function close(host: ThreadHost, call: ThreadCall): Promise<void> {
  try {
    await setImmediate(); // what came in the same message begins first
    await host.close();
    call.answer(null);
  } catch (error) {
    call.fail(error);
  } finally {
    leave();
  }
}

function callOf({ id, method, args }: ThreadRequest): ThreadCall {
  return {
    method,
    args,
    answer: (value) => post({ kind: 'answer', id, value }),
    fail: (error) => post({ kind: 'failure', id, error: flattenError(error) }),
  };
}

export interface ThreadRequest {
  readonly id: number;
  readonly method: string;
  readonly args: unknown[];
}

export type ThreadMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: FlatError }
  | { readonly kind: 'notice'; readonly notice: unknown };

/** An error as it crosses a thread: structured cloning drops classes and fields. */
interface FlatError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | null;
  /** What an EngineError knows besides; null: it is another error. */
  readonly facts: (Pick<EngineError, 'retryable' | 'countsAsTry'> & { readonly away?: Destination }) | null;
}

export function flattenError(thrown: unknown): FlatError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  return { name: error.name, message: error.message, stack: error.stack, code, facts: factsOf(error) };
}

function factsOf(error: Error): FlatError['facts'] {
  if (!(error instanceof EngineError)) return null;
  const { retryable, countsAsTry, away } = error;
  return { retryable, countsAsTry, ...(away !== null && { away }) };
}

export function reviveError(flat: FlatError): Error {
  if (flat.name === 'InvalidCursorError') return new InvalidCursorError();
  const cause = Object.assign(new Error(flat.message), { name: flat.name, stack: flat.stack, code: flat.code });
  if (flat.facts === null) return cause;
  return new EngineError(flat.message, { code: flat.code as EngineErrorCode, ...flat.facts, cause });
}
