import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './compile-cache.ts';

const READY_WITHIN_MS = 200_000; // a start takes a second, on a busy machine far longer; less than a test may take, which would not say what did not come
const STOP_WITHIN_MS = 60_000; // twice as long as any service gives its running work
const ANSWER_WITHIN_MS = 10_000; // of one look; then the next one
const POLL_MS = 50;

/** Settings of the programs that tests start, unless they say otherwise. */
const OF_TESTS = {
  SLOWWAVE_DRAIN_MS: '0',
  // Tests count the calls of models, and say so where one of the start is to be among them.
  SLOWWAVE_CHAT_TRY: 'off',
  // A test waits for a worker as for any other process: at low priority it gets a ninth of the time of what computes beside it.
  SLOWWAVE_WORKER_PRIORITY: 'normal',
};

export interface ServiceOptions {
  /** The script to run, or a program with `runs: 'itself'`. */
  readonly main: string | URL;
  readonly runs?: 'in-node' | 'itself';
  readonly args?: readonly string[];
  /** The whole environment but for where compiled modules are kept: nothing is taken over from this process, so that no setting of a developer leaks in. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Ready when a line of output matches, or a GET of the url is answered with 200; without either at once. */
  readonly ready?: { readonly line: RegExp } | { readonly url: string };
  readonly readyWithinMs?: number;
  readonly stopWithinMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program running beside the test. */
export interface Service {
  readonly pid: number;
  /** Everything it has written, both streams. */
  output(): string;
  /** Resolves with the first line that matches, written before or later; rejects when the process ends without. */
  waitForLine(pattern: RegExp, withinMs?: number): Promise<string>;
  /** Takes an exit as planned, and waits for it. */
  waitForExit(): Promise<Exit>;
  /** SIGTERM. Rejects when the process had ended before by itself, or does not end in time. */
  stop(): Promise<Exit>;
  /** SIGKILL: what a crash looks like. Rejects when the process had ended before by itself. */
  kill(): Promise<Exit>;
}

interface Running {
  readonly options: ServiceOptions;
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  output: string;
  exit: Exit | null;
  /** Whether an exit is what the test wants. */
  expected: boolean;
}

/** Starts a program, with the node that runs the tests unless it runs itself; resolves when it is ready. */
export async function spawnService(options: ServiceOptions): Promise<Service> {
  const running = start(options);
  const { child } = running;
  await once(child, 'spawn');
  try {
    await untilReady(running);
  } catch (error) {
    child.kill('SIGKILL');
    await running.exited;
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    output: () => running.output,
    waitForLine: (pattern, withinMs = READY_WITHIN_MS) =>
      until(running, { what: `a line like ${pattern}`, withinMs, look: () => lineLike(running, pattern) }),
    waitForExit: () => {
      running.expected = true;
      return running.exited;
    },
    stop: () => end(running, 'SIGTERM'),
    kill: () => end(running, 'SIGKILL'),
  };
}

function start(options: ServiceOptions): Running {
  const { main, runs = 'in-node', args = [], env = {}, cwd } = options;
  const script = typeof main === 'string' ? main : fileURLToPath(main);
  const command: readonly [string, ...string[]] = runs === 'itself' ? [script] : [process.execPath, script];
  const child = spawn(command[0], [...command.slice(1), ...args], {
    cwd,
    env: { ...COMPILE_CACHE, ...OF_TESTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close').then(([code, signal]): Exit => ({ code, signal }));
  const running: Running = { options, child, exited, output: '', exit: null, expected: false };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      running.output += text;
    });
  }
  const stays = whenLeaving(() => void child.kill('SIGKILL'));
  child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
    running.exit = { code, signal };
    stays();
  });
  return running;
}

async function untilReady(running: Running): Promise<void> {
  const { ready, readyWithinMs: withinMs = READY_WITHIN_MS } = running.options;
  if (ready === undefined) return;
  if ('line' in ready) {
    await until(running, { what: `a line like ${ready.line}`, withinMs, look: () => lineLike(running, ready.line) });
  } else {
    await until(running, { what: `200 from ${ready.url}`, withinMs, look: () => answersAt(ready.url) });
  }
}

interface Wait<T> {
  readonly what: string;
  readonly withinMs: number;
  look(): Promise<T | null> | T | null;
}

async function until<T>(running: Running, { what, withinMs, look }: Wait<T>): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const ended = running.exit !== null; // before looking: the last lines count
    const found = await look();
    if (found !== null) return found;
    if (ended) throw failure(running, `expected ${what}, but the process ended`);
    if (Date.now() > deadline) throw failure(running, `expected ${what} within ${withinMs} ms`);
    await sleep(POLL_MS);
  }
}

function lineLike({ output }: Running, pattern: RegExp): string | null {
  return output.split('\n').find((line) => pattern.test(line)) ?? null;
}

async function answersAt(url: string): Promise<true | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    await response.body?.cancel();
    return response.status === 200 ? true : null;
  } catch {
    return null; // not listening yet
  }
}

async function end(running: Running, signal: 'SIGTERM' | 'SIGKILL'): Promise<Exit> {
  if (running.exit !== null && !running.expected) throw failure(running, 'the process ended by itself before its test');
  running.expected = true;
  running.child.kill(signal);
  const withinMs = running.options.stopWithinMs ?? STOP_WITHIN_MS;
  const late = new AbortController();
  const exit = await Promise.race([running.exited, sleep(withinMs, null, { signal: late.signal })]);
  late.abort();
  if (exit !== null) return exit;
  running.child.kill('SIGKILL');
  await running.exited;
  throw failure(running, `the process did not end within ${withinMs} ms of ${signal}`);
}

function failure(running: Running, what: string): Error {
  const { exit, output, options } = running;
  const how = exit === null ? 'it still runs' : `exit code ${exit.code}, signal ${exit.signal}`;
  return new Error(`${String(options.main)}: ${what} (${how}). Its output:\n${output}`);
}

/** What shells add to the number of the signal that ended a program. */
const SIGNALLED = 128;
let exitsOnSignals = false;

/** Does this when this process ends, whatever ends it but SIGKILL. Returns what takes it back. */
export function whenLeaving(work: () => void): () => void {
  if (!exitsOnSignals) exitOnSignals();
  process.once('exit', work);
  return () => void process.off('exit', work);
}

/** Who is ended by a signal does not exit, and would leave what it has started: so are workers of vitest whose set-up threw. */
function exitOnSignals(): void {
  exitsOnSignals = true;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.once(signal, () => {
      // A program that has something to end first exits by itself.
      if (process.listenerCount(signal) === 0) process.exit(SIGNALLED + constants.signals[signal]);
    });
  }
}
