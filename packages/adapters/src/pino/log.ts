import { createRequire } from 'node:module';
import type { Log } from '@slowwave/engine';
import { type DestinationStream, pino } from 'pino';
import { redact } from './redact.ts';

/** For what only some processes need. */
const require = createRequire(import.meta.url);

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** Which program speaks. */
  readonly name: string;
  /** For people instead of machines; by default on a terminal. */
  readonly pretty?: boolean;
  /** Standard output by default. */
  readonly destination?: DestinationStream;
}

/** Structured lines: JSON for machines, coloured text for people. */
export function createLog({ level, name, pretty, destination }: LogOptions): Log {
  const settings = {
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors come flattened already; pino's own serializer would add what libraries hang on them.
    serializers: { err: (value: unknown) => value },
    formatters: { level: (label: string) => ({ level: label }), log: redact },
  };
  const terminal = destination === undefined && process.stdout.isTTY === true;
  const out = destination ?? pino.destination(1);
  return pino(settings, (pretty ?? terminal) ? prettified(out, terminal) : out);
}

/** Formats line by line without a stream between, so that the last lines before an exit are not lost. */
function prettified(out: DestinationStream, colorize: boolean): DestinationStream {
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty');
  const format = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => out.write(format(line)) };
}
