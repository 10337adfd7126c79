import { parseArgs } from 'node:util';
import {
  flagOf,
  INSTALLED,
  nearest,
  SETTINGS,
  type SettingNote,
  STARTED_BY,
  settingsByHeading,
} from '@slowwave/adapters/config';

/** Settings of the environment as flags: SLOWWAVE_DATA_DIR is --data-dir, REDIS_URL is --redis-url. */
const NAMES = new Map(SETTINGS.filter(isOurs).map(({ name }) => [flagOf(name), name]));

/** SLOWWAVE_URL is only for the command line and not an option of the server. */
function isOurs({ name }: { readonly name: string }): boolean {
  return name !== 'SLOWWAVE_URL';
}

/** A command line with anything but flags of settings. */
export class FlagError extends Error {
  /** The exit code for invalid arguments. */
  readonly exitCode = 2;

  constructor(problem: string) {
    super(`${problem}\n${STARTED_BY} --help lists the options.`);
    this.name = 'FlagError';
  }
}

/** The flags of a command line, by the names of their settings; null when help was asked for. */
export function readFlags(args: readonly string[]): Record<string, string> | null {
  const values = parse(args);
  if (values.help === true) return null;
  return Object.fromEntries(
    Object.entries(values).flatMap(([flag, value]) => {
      const name = NAMES.get(flag);
      return name === undefined || typeof value !== 'string' ? [] : [[name, value]];
    }),
  );
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const options = Object.fromEntries([...NAMES.keys()].map((flag) => [flag, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    throw new FlagError(problemOf(args) ?? (error instanceof Error ? error.message : String(error)));
  }
}

/** An option that there is not, and the one that was probably meant. */
function problemOf(args: readonly string[]): string | null {
  const given = args.map((arg) => arg.replace(/=.*$/s, '')).filter((arg) => arg.startsWith('--'));
  const unknown = given.map((arg) => arg.slice('--'.length)).find((flag) => flag !== 'help' && !NAMES.has(flag));
  if (unknown === undefined) return null;
  const meant = nearest(unknown, [...NAMES.keys()]);
  return `there is no option --${unknown}${meant === null ? '' : `; did you mean --${meant}?`}`;
}

const COLUMN = Math.max(...[...NAMES.keys()].map((flag) => `--${flag}  `.length));

/** Read by what starts this program. */
const FILE = INSTALLED ? 'slowwave.env in the current folder' : '.env in the root of the repository';

export function helpText(): string {
  const sections = settingsByHeading(SETTINGS.filter(isOurs)).map(
    ({ heading, settings }) => `${heading}:\n${settings.map(lineOf).join('\n')}`,
  );
  return `Usage: ${STARTED_BY} [options]

Starts Slowwave in one process: ingest, worker, search and console on one port.
Every option can also be set in the environment, under the name in brackets, or in a
file ${FILE}. Options override the environment, and the
environment overrides the file.

${sections.join('\n\n')}

  ${'--help, -h'.padEnd(COLUMN)}Show this help.
`;
}

function lineOf({ name, about, byDefault }: SettingNote): string {
  const notes = byDefault === null ? name : `${name}; default ${byDefault}`;
  return `  ${`--${flagOf(name)}`.padEnd(COLUMN)}${about}\n  ${''.padEnd(COLUMN)}(${notes})`;
}

/** What a started server prints: what it runs on, its URLs, and commands to try. */
export function welcome({
  url,
  runsOn,
  keyed,
}: {
  url: string;
  runsOn: Record<string, string>;
  keyed: boolean;
}): string {
  const key = keyed ? ` -H "authorization: Bearer $SLOWWAVE_API_KEY"` : '';
  const parts = Object.entries(runsOn).map(([part, place]) => `  ${part.replaceAll('_', ' ').padEnd(16)} ${place}`);
  const json = ` -H 'content-type: application/json'`;
  return `
Slowwave is listening on ${url}

${parts.join('\n')}

  console          ${url}/
  API page         ${url}/docs
  queues           ${url}/queues
  health           ${url}/healthz  ${url}/readyz  ${url}/metrics

Ctrl-C stops it and keeps the data. To get started:

  see it work      ${url}/playground
  say something    curl -s '${url}/v1/batches?wait=5000'${key}${json} -d '{"user_id":"ana","flush":true,"messages":"I am Ana and I moved from Lisbon to Oslo."}'
  ask for it       curl -s ${url}/v1/search${key}${json} -d '{"user_id":"ana","query":"where does she live?"}'
`;
}
