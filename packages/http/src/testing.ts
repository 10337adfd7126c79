import { Registry } from 'prom-client';
import { type App, createShell, type HttpLog, type ShellOptions } from './shell.ts';

interface LogEntry {
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
    auth: { apiKey: null, keys: null },
    log,
    runsOn: { ledger: 'memory' },
    ready: {},
    keyRate: null,
    metrics: new Registry(),
    ...given,
  });
  return { app, lines };
}

/** What /openapi.json contains. */
export interface Description {
  /** The routes of the product, sorted. */
  readonly routes: readonly string[];
  /** What is referred to, or is the form of failures, and is not described. */
  readonly missing: readonly string[];
}

const PROBLEM = '#/components/schemas/Problem';

export async function descriptionOf(app: App): Promise<Description> {
  const document = (await app.inject('/openapi.json')).json();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, name]) => name ?? '');
  const known = Object.entries(document.components).flatMap(([kind, named]) =>
    Object.keys(named as object).map((name) => `#/components/${kind}/${name}`),
  );
  return {
    routes: Object.keys(document.paths)
      .filter((path) => path.startsWith('/v1/'))
      .sort(),
    missing: [...new Set([...references, PROBLEM])].filter((name) => !known.includes(name)),
  };
}
