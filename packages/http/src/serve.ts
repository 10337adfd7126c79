import { BlockList, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App, AuthOptions } from './types.ts';

/** A program that is running: where it listens, and how it ends. */
export interface Service {
  readonly url: string;
  /** Says that it is not ready and goes on answering, until whoever shares out requests has seen that. */
  drain?(): Promise<void>;
  /** Stops listening first, then lets go of everything it opened. */
  close(): Promise<void>;
}

/** A stop that takes longer than this is cut off: orchestrators kill after 30 s, and the ledger does not mind. */
const STOP_LIMIT_MS = 25_000;
const EXIT_FAILED = 1;

/** What else a program does when it has started, and before it ends. */
interface Turns<S extends Service> {
  started?(service: S): void;
  /** Lets go of what is still open, as after a start that failed half-way. */
  ending?(): Promise<void>;
}

/** Runs a program until it is told to stop. Failures to start are one readable message, not a stack trace. */
export async function serve<S extends Service>(
  start: () => Promise<S>,
  { started = () => {}, ending = async () => {} }: Turns<S> = {},
): Promise<void> {
  try {
    const service = await start();
    stopOnSignals(service, ending);
    started(service);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    cutOffLate();
    await ending();
    process.exit(exitCodeOf(error));
  }
}

/** A failure may say what the program ends with: 2 where it cannot use what it was told. */
const exitCodeOf = (error: unknown): number =>
  error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number' ? error.exitCode : EXIT_FAILED;

/** Closes things in the given order; what fails to close does not keep the rest open. */
export async function closeInOrder(app: App, ...others: readonly { close(): Promise<unknown> }[]): Promise<void> {
  for (const part of [app, ...others]) {
    await part.close().catch((error: unknown) => {
      process.stderr.write(`while stopping: ${String(error)}\n`);
    });
  }
}

function stopOnSignals(service: Service, ending: () => Promise<void>): void {
  let stopping = false;
  const stop = async (drain: () => Promise<void>): Promise<void> => {
    if (stopping) return; // a second Ctrl-C changes nothing: stopping is under way and has a limit
    stopping = true;
    cutOffLate();
    await drain();
    await end(service, ending);
  };
  // Ctrl-C is pressed by somebody who waits at a terminal.
  process.on('SIGINT', () => void stop(async () => {}));
  process.on('SIGTERM', () => void stop(async () => service.drain?.()));
}

/** Gives proxies the time to see at /readyz that requests belong elsewhere. */
export async function drain(app: App, ms: number): Promise<void> {
  app.withdraw();
  await sleep(ms);
}

async function end(service: Service, ending: () => Promise<void>): Promise<void> {
  const closed = await service.close().then(
    () => true,
    () => false,
  );
  await ending();
  process.exit(closed ? 0 : EXIT_FAILED);
}

function cutOffLate(): void {
  setTimeout(() => process.exit(EXIT_FAILED), STOP_LIMIT_MS).unref();
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
}

/** Opens the port and returns its address. Never opens it to a network without a key. */
export async function listen(app: App, options: ListenOptions, auth: AuthOptions): Promise<string> {
  if (!isLoopback(options.host) && !(await needsKey(auth))) {
    throw new Error(
      `without a key, listening on ${options.host} ` +
        'would let anyone on the network read and change memories: ' +
        'set SLOWWAVE_API_KEY to a secret, create a key with slowwave keys create operator --scopes admin ' +
        '--offline, or set SLOWWAVE_HOST to 127.0.0.1',
    );
  }
  try {
    return await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    throw explained(error, options);
  }
}

/** Whether requests are asked for a key, from now on and for ever. */
const needsKey = async ({ apiKey, keys }: AuthOptions): Promise<boolean> =>
  apiKey !== null || (keys !== null && (await keys.any()));

/** What a person does about it, where that is known. */
function explained(error: unknown, options: ListenOptions): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = EXPLANATIONS[code]?.(options);
  return text === undefined ? error : new Error(text, { cause: error });
}

const EXPLANATIONS: Readonly<Record<string, (options: ListenOptions) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `port ${port} on ${host} is already in use: stop the other program, or choose another port with SLOWWAVE_PORT`,
  EADDRNOTAVAIL: ({ host }) => `${host} is not an address of this machine: correct SLOWWAVE_HOST`,
  ENOTFOUND: ({ host }) => `the host name ${host} does not resolve: correct SLOWWAVE_HOST`,
  EACCES: ({ port }) => `port ${port} requires root privileges: choose one above 1023 with SLOWWAVE_PORT`,
};

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether a host, by name or address, is this machine only. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const family = isIP(bare);
  if (family === 0) return bare === 'localhost' || bare.endsWith('.localhost');
  return LOOPBACK.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}
