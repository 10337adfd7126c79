import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './types.ts';

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
