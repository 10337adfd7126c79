import { Registry } from 'prom-client';
import { createShell } from './shell.ts';
import type { App, HttpLog, ShellOptions } from './types.ts';

export interface LogEntry {
  readonly level: keyof HttpLog;
  readonly fields: object;
  readonly message: string;
}

/** A shell for tests: no key, nothing to depend on, and a log that is kept. */
export async function testShell(given: Partial<ShellOptions> = {}): Promise<{ app: App; lines: LogEntry[] }> {
  const lines: LogEntry[] = [];
  const write = (level: keyof HttpLog) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const app = await createShell({
    name: 'test',
    auth: { apiKey: null },
    log,
    runsOn: { ledger: 'memory' },
    ready: {},
    bodyLimitBytes: 100_000,
    metrics: new Registry(),
    ...given,
  });
  return { app, lines };
}
