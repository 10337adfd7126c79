import { parseArgs } from 'node:util';
import { ENVIRONMENT } from '@slowwave/adapters/config';

/** Settings of the environment as flags: SLOWWAVE_DATA_DIR is --data-dir, REDIS_URL is --redis-url. */
const NAMES = new Map(Object.keys(ENVIRONMENT.shape).map((name) => [flagOf(name), name]));

function flagOf(name: string): string {
  return name
    .replace(/^SLOWWAVE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}

/** The flags of a command line, by the names of their settings; null when help was asked for. Throws on unknown ones. */
export function readFlags(args: readonly string[]): Record<string, string> | null {
  const options = Object.fromEntries([...NAMES.keys()].map((flag) => [flag, { type: 'string' as const }]));
  const { values } = parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) return null;
  return Object.fromEntries(
    Object.entries(values).flatMap(([flag, value]) => {
      const name = NAMES.get(flag);
      return name === undefined || typeof value !== 'string' ? [] : [[name, value]];
    }),
  );
}

const COLUMN = 28;

export function helpText(): string {
  const lines = [...NAMES].map(([flag, name]) => {
    const described = ENVIRONMENT.shape[name as keyof typeof ENVIRONMENT.shape].description ?? '';
    return `  ${`--${flag}`.padEnd(COLUMN)}${described}\n  ${''.padEnd(COLUMN)}(${name})`;
  });
  return `Usage: ./scripts/start [options]

Starts Slowwave in one process: ingest, worker, search and console on one port.
Every option can also be set in the environment, under the name in brackets.

${lines.join('\n')}
  ${'--help, -h'.padEnd(COLUMN)}Shows this.
`;
}
