import type { Log } from '@slowwave/engine';
import { type CalledQueue, feel } from './unavailable.ts';

/** A server that is away makes an error per reconnect and connection: one line per 10 s says it as well. */
const QUIET_MS = 10_000;

interface ErrorSource {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Logs the errors a queue or worker reports beside its calls, at most once per 10 s; they never end the process. */
export function logErrorsQuietly(source: ErrorSource, { place, pulse }: CalledQueue, log: Log): void {
  let quietUntil = 0;
  let suppressed = 0;
  source.on('error', (error) => {
    feel(pulse, error);
    if (Date.now() < quietUntil) {
      suppressed += 1;
      return;
    }
    log.warn({ place, error: error.message, suppressed }, 'the queue reports a problem; work goes on when it is over');
    quietUntil = Date.now() + QUIET_MS;
    suppressed = 0;
  });
}
