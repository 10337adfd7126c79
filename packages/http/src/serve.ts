import { BlockList, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App, AuthOptions } from './shell.ts';

/** A running program. */
export interface Service {
  readonly url: string;
  /** Reports that it is not ready and keeps responding, until the load balancer has noticed. */
  drain?(): Promise<void>;
  /** Stops listening first, then closes everything it opened. */
  close(): Promise<void>;
}

/** A stop that takes longer is aborted: orchestrators kill after 30 s, which the ledger survives. */
const STOP_LIMIT_MS = 25_000;
const EXIT_FAILED = 1;

/** What a program does after it has started, and before it exits. */
interface Turns<S extends Service> {
  started?(service: S): void;
  /** Closes what is still open, also after a failed start. */
  ending?(): Promise<void>;
}

/** Runs a program until it receives a signal. A failed start prints one readable message, not a stack trace. */
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

/** An error may have its own exit code, such as 2 for invalid arguments. */
const exitCodeOf = (error: unknown): number =>
  error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number' ? error.exitCode : EXIT_FAILED;

/** Closes things in the given order; a failure does not keep the rest open. */
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
    if (stopping) return; // a second Ctrl-C changes nothing: the stop has a time limit
    stopping = true;
    cutOffLate();
    await drain();
    await end(service, ending);
  };
  // Ctrl-C skips draining, because somebody is waiting at a terminal.
  process.on('SIGINT', () => void stop(async () => {}));
  process.on('SIGTERM', () => void stop(async () => service.drain?.()));
}

/** Gives proxies time to see at /readyz that they must send requests elsewhere. */
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

interface ListenOptions {
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

/** Whether requests need a key. Never becomes false again. */
const needsKey = async ({ apiKey, keys }: AuthOptions): Promise<boolean> =>
  apiKey !== null || (keys !== null && (await keys.any()));

/** Adds what to do, if that is known. */
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
