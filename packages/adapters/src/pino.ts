import { createRequire } from 'node:module';
import type { Log } from '@slowwave/engine';
import { type DestinationStream, pino } from 'pino';

/** For what only some processes need. */
const require = createRequire(import.meta.url);

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

interface LogOptions {
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

/** Fields that hold what people said, or what opens doors. */
const SECRET = new Set(['content', 'text', 'memory', 'query', 'authorization', 'messages']);
const REDACTED = '[redacted]';
const DEPTH_MAX = 6; // no line needs more; ends circles too
const TOO_DEEP = '[…]';

/** A copy of what a line is about, at every depth without what must never be logged. */
function redact(fields: object): Record<string, unknown> {
  return fields instanceof Error ? { err: flatten(fields, 0) } : copy(fields, 0);
}

function copy(fields: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(fields).map(([key, value]) => [
    key,
    isSecret(key, value) ? REDACTED : clean(value, depth + 1),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function isSecret(key: string, value: unknown): boolean {
  return SECRET.has(key.toLowerCase()) && value !== null && value !== undefined;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (depth > DEPTH_MAX) return TOO_DEEP;
  if (value instanceof Error) return flatten(value, depth);
  return Array.isArray(value) ? value.map((item) => clean(item, depth + 1)) : copy(value, depth);
}

/** Only what is known to be harmless: libraries hang whole requests and answers on their errors. */
function flatten(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { code, status, retryable } = error as { code?: unknown; status?: unknown; retryable?: unknown };
  return {
    type: name,
    message,
    stack,
    code,
    status,
    retryable,
    cause: cause === undefined ? undefined : clean(cause, depth + 1),
  };
}
