import type { App } from './types.ts';

/** A program that is running: where it listens, and how it ends. */
export interface Service {
  readonly url: string;
  /** Stops listening first, then lets go of everything it opened. */
  close(): Promise<void>;
}

/** Largest body of a request: a transcript of some hundred thousand tokens. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** A stop that takes longer than this is cut off: orchestrators kill after 30 s, and the ledger does not mind. */
const STOP_LIMIT_MS = 25_000;
const EXIT_FAILED = 1;

/** Runs a program until it is told to stop. Failures to start are one readable message, not a stack trace. */
export async function serve<S extends Service>(
  start: () => Promise<S>,
  started: (service: S) => void = () => {},
): Promise<void> {
  try {
    const service = await start();
    stopOnSignals(service);
    started(service);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
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

function stopOnSignals(service: Service): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return; // a second Ctrl-C changes nothing: stopping is under way and has a limit
    stopping = true;
    setTimeout(() => process.exit(EXIT_FAILED), STOP_LIMIT_MS).unref();
    service.close().then(
      () => process.exit(0),
      () => process.exit(EXIT_FAILED),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}
