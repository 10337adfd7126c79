import type { z } from 'zod';
import { ENVIRONMENT, STARTED_BY } from './environment.ts';

/** A setting as people read about it: in --help, .env.example and docs/settings.md. */
export interface SettingNote {
  readonly name: string;
  readonly about: string;
  /** null when there is none, or when it differs between the programs. */
  readonly byDefault: string | null;
}

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly SettingNote[] = Object.entries(ENVIRONMENT.shape).map(([name, schema]) => ({
  name,
  about: schema.description ?? '',
  byDefault: defaultOf(schema),
}));

/** The headings people read them under, each with the first of its settings. */
const HEADINGS: Readonly<Record<string, string>> = {
  SLOWWAVE_HOST: 'Server',
  REDIS_URL: 'Queue, ledger and index',
  SLOWWAVE_COLD_DAYS: 'Owners that sleep',
  OPENAI_API_KEY: 'Models',
  SLOWWAVE_CHAT_FALLBACK: 'Fallbacks and models by step',
  SLOWWAVE_BATCH_TOKENS: 'Consolidation',
  SLOWWAVE_RPM: 'Limits',
  SLOWWAVE_CONCURRENCY: 'Workers',
  SLOWWAVE_DIRECTORY: 'Cells',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Traces',
};

export interface SettingsGroup {
  readonly heading: string;
  readonly settings: readonly SettingNote[];
}

/** The same settings in the same order, by heading. */
export function settingsByHeading(settings: readonly SettingNote[] = SETTINGS): SettingsGroup[] {
  const groups: { heading: string; settings: SettingNote[] }[] = [];
  for (const setting of settings) {
    const heading = HEADINGS[setting.name];
    if (heading !== undefined) groups.push({ heading, settings: [] });
    groups.at(-1)?.settings.push(setting);
  }
  return groups;
}

/** A setting as an option of a command line: SLOWWAVE_DATA_DIR is --data-dir, REDIS_URL is --redis-url. */
export const flagOf = (name: string): string =>
  name
    .replace(/^SLOWWAVE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');

function defaultOf(schema: z.ZodType): string | null {
  const { success, data } = schema.safeParse(undefined);
  return success && data !== undefined ? String(data) : null;
}

/** A program that takes no arguments was given some. */
export class ArgumentError extends Error {
  /** The exit code of a program that cannot use what it was given. */
  readonly exitCode = 2;

  constructor(args: readonly string[]) {
    // A value may be a secret, and is not repeated.
    const flags = args.filter((arg) => arg.startsWith('-')).map((arg) => arg.replace(/=.*$/s, ''));
    super(
      `expected no arguments, got ${flags.length === 0 ? args.length : flags.join(', ')}: this program is configured by ` +
        `settings in the environment${adviceFor(flags)}. docs/settings.md lists them; only ${STARTED_BY} takes them as options`,
    );
    this.name = 'ArgumentError';
  }
}

/** Whatever is not honoured is refused. */
export function refuseArguments(args: readonly string[]): void {
  if (args.length > 0) throw new ArgumentError(args);
}

function adviceFor(flags: readonly string[]): string {
  const meant = SETTINGS.filter(({ name }) => flags.includes(`--${flagOf(name)}`));
  return meant.length === 0 ? '' : `; set ${meant.map(({ name }) => name).join(', ')}`;
}
