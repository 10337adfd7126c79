import { hash, randomFillSync } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { type Cancellation, EngineError, type IdKind, type OwnerBits, type Tools } from '@slowwave/engine';
import { digitsOf, ID_ALPHABET, numberOf, ownerDigits } from '@slowwave/engine/storing';
import { reviveError, type ThreadMessage, type ThreadRequest } from './thread-host.ts';

const TIME_DIGITS = 10; // 50 bits of milliseconds: enough for the next 35,000 years
const COUNT_DIGITS = 4; // 20 bits: half of them are left to count with, more than are made in a millisecond
const OWNER_DIGITS = 4; // 16 bits of the owner's hash, where there is one; 4 random ones
const RANDOM_DIGITS = 8; // 40 bits, 44 with those beside the owner: nobody guesses an id, and processes do not collide

/** The system clock, random ids that sort in the order in which a process makes them, and SHA-256. */
export const systemTools: Tools = {
  now: () => Date.now(),
  id: (kind: IdKind, owner?: OwnerBits) =>
    `${kind}_${orderedPart(Date.now())}${ownerPart(owner)}${drawn(RANDOM_DIGITS)}`,
  breathe,
  hash: (text) => hash('sha256', text),
};

let last = { at: -1, digits: '', count: 0 };

/**
 * The time, and a count that begins anywhere in each millisecond. What is made at once, as the memories of one consolidation
 * are, keeps its order: lists by time and id depend on it.
 */
function orderedPart(at: number): string {
  last =
    at === last.at
      ? { ...last, count: last.count + 1 }
      : { at, digits: timeDigits(at), count: numberOf(drawn(COUNT_DIGITS)) % COUNT_FIRST };
  return `${last.digits}${digitsOf(last.count, COUNT_DIGITS)}`;
}

const COUNT_FIRST = 32 ** COUNT_DIGITS / 2;

const timeDigits = (at: number): string => digitsOf(at, TIME_DIGITS);

const ownerPart = (owner: OwnerBits | undefined): string =>
  owner === undefined ? drawn(OWNER_DIGITS) : ownerDigits(owner, drawn(1));

/** Ids whose random digits are drawn in one go: a draw costs more than all the rest of an id. */
const IDS_DRAWN = 256;
const pool = Buffer.alloc((OWNER_DIGITS + RANDOM_DIGITS) * IDS_DRAWN);
let used = pool.length;

function drawn(digits: number): string {
  if (used + digits > pool.length) draw();
  const from = used;
  used += digits;
  return pool.toString('latin1', from, used);
}

/** Fills the pool with random digits. */
function draw(): void {
  randomFillSync(pool);
  for (let i = 0; i < pool.length; i += 1) pool[i] = ID_ALPHABET.charCodeAt((pool[i] ?? 0) % ID_ALPHABET.length);
  used = 0;
}

/** How long one piece of work may keep the event loop: with what others do in between, answers stay under 10 ms late. */
const TURN_MS = 4;

const waiting: (() => void)[] = [];
let turnBegan = 0;

/**
 * Waits for a turn of the event loop where the last one was over TURN_MS ago; else goes on at once. Of many that wait, one
 * goes on in each turn: what came in meanwhile is answered in between.
 */
export function breathe(): Promise<void> {
  if (performance.now() - turnBegan < TURN_MS) return Promise.resolve();
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(nextTurn);
  });
}

function nextTurn(): void {
  turnBegan = performance.now();
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(nextTurn);
  next?.();
}

interface TimeLimit {
  /** Aborted when the time is used up, or with the outer signal. */
  readonly signal: AbortSignal;
  clear(): void;
}

interface Clock {
  stop(): void;
  go(): void;
}

/** Of work that has a limit, by its signal. */
const CLOCKS = new WeakMap<Cancellation, Clock>();

/** The time that work has; the engine counts it as a failed try to use up all of it. While it stands in line its clock stands still. */
export function timeLimit(
  outer: AbortSignal | undefined,
  { timeoutMs, tooLong }: { readonly timeoutMs: number; readonly tooLong: (ms: number) => string },
): TimeLimit {
  const own = new AbortController();
  const signal = outer === undefined ? own.signal : AbortSignal.any([outer, own.signal]);
  const usedUp = (): void => own.abort(new EngineError(tooLong(timeoutMs), { code: 'model_timeout', retryable: true }));
  let leftMs = timeoutMs;
  let since = performance.now();
  let timer = setTimeout(usedUp, leftMs);
  let stops = 0;
  CLOCKS.set(signal, {
    stop: () => {
      stops += 1;
      if (stops > 1) return;
      clearTimeout(timer);
      leftMs -= performance.now() - since;
    },
    go: () => {
      stops -= 1;
      if (stops > 0) return;
      since = performance.now();
      timer = setTimeout(usedUp, Math.max(0, leftMs));
    },
  });
  return {
    signal,
    clear: () => {
      CLOCKS.delete(signal);
      clearTimeout(timer);
    },
  };
}

/**
 * Waits until it is the work's turn. Meanwhile its clock stands still: with many in line each may wait longer than the time it
 * has, and one that is cut off just when it is served has its place, and what is computed for it, for nothing.
 */
export async function inLine<T>(work: Cancellation, turn: Promise<T>): Promise<T> {
  CLOCKS.get(work)?.stop();
  try {
    return await turn;
  } finally {
    CLOCKS.get(work)?.go();
  }
}

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

/**
 * What a thread makes for a call is mostly thrown away at once, and large values are outside of its own memory: with a small room for
 * what is new this is noticed soon, in no more processor time, and each thread takes many megabytes less.
 */
const LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 6 };

/** Starts `script` with `init`; resolves when it is ready, rejects with its error when it could not start. */
export async function startThread(script: URL, init: unknown, limits: ResourceLimits = {}): Promise<Thread> {
  // A size with which the process was started is that of its main thread, which has it by now. V8 would put it before the limits.
  setFlagsFromString('--max-semi-space-size=0');
  const worker = new Worker(script, { workerData: init, resourceLimits: { ...LIMITS, ...limits } });
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
