import type { z } from 'zod';
import { ENVIRONMENT } from './environment.ts';

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
  OPENAI_API_KEY: 'Models',
  SLOWWAVE_BATCH_TOKENS: 'Consolidation',
  SLOWWAVE_RPM: 'Limits',
  SLOWWAVE_CONCURRENCY: 'Workers',
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
