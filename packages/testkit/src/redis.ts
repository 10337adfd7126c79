import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';
import { whenLeaving } from './process.ts';
import { tempDir } from './temp.ts';

/** A real Redis of one test file, without a disk. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Removes all that it holds. */
  wipe(): Promise<void>;
  /** Ends the server and removes its folder. A new one may be started on its port. */
  stop(): Promise<void>;
}

export interface TestRedisOptions {
  /** The port of a stopped one, to be its successor. */
  readonly port?: number;
  /** More command line arguments of redis-server. */
  readonly args?: readonly string[];
}

/** It starts in a quarter of a second; far longer on a machine that is busy. */
const START_LIMIT_MS = 200_000;
const POLL_MS = 20;

/** Starts a throw-away redis-server on a free port. */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const port = options.port ?? (await freePort());
  const folder = await tempDir();
  const server = spawn('redis-server', argsOf(port, folder.path, options.args ?? []), { stdio: 'ignore' });
  const stays = whenLeaving(() => void server.kill('SIGKILL')); // a test run that is aborted leaves no server behind
  const stop = async (): Promise<void> => {
    stays();
    await end(server);
    await folder.remove();
  };
  try {
    await Promise.race([untilAnswers(port), failure(server)]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, pid: server.pid ?? 0, wipe: () => wipe(port), stop };
}

function argsOf(port: number, folder: string, more: readonly string[]): string[] {
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  return [...place, '--save', '', '--appendonly', 'no', '--daemonize', 'no', ...more];
}

/** Rejects when the server could not be started, or ended by itself. */
function failure(server: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    server.once('error', (cause) =>
      reject(new Error('expected redis-server on the PATH, found none; install the package redis-server', { cause })),
    );
    server.once('exit', (code) =>
      reject(new Error(`redis-server ended with ${code} at its start; see its options and port`)),
    );
  });
}

async function untilAnswers(port: number): Promise<void> {
  for (const giveUp = Date.now() + START_LIMIT_MS; Date.now() < giveUp; await sleep(POLL_MS)) {
    if (await answers(port)) return;
  }
  throw new Error(`redis-server did not answer on port ${port} within ${START_LIMIT_MS} ms`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const say = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    // A server with a password answers too: with an error.
    socket.once('data', () => say(true));
    socket.once('error', () => say(false));
  });
}

function wipe(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('FLUSHALL\r\n'));
    socket.once('data', (answer) => {
      socket.destroy();
      if (answer.toString().startsWith('+OK')) resolve();
      else reject(new Error(`expected redis-server to be wiped, got: ${answer}`));
    });
    socket.once('error', reject);
  });
}

async function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}
