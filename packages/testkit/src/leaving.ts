import { constants } from 'node:os';

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
