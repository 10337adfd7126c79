import type { z } from 'zod';
import { ENVIRONMENT } from './environment.ts';

/** A setting as people read of it: in --help, .env.example and the README. */
export interface SettingNote {
  readonly name: string;
  readonly about: string;
  /** What holds when it is not set; null when that is nothing, or differs between the programs. */
  readonly usual: string | null;
}

/** Every setting, in the order of the schema. */
export const SETTINGS: readonly SettingNote[] = Object.entries(ENVIRONMENT.shape).map(([name, schema]) => ({
  name,
  about: schema.description ?? '',
  usual: usualOf(schema),
}));

/** A setting as an option of a command line: SLOWWAVE_DATA_DIR is --data-dir, REDIS_URL is --redis-url. */
export const flagOf = (name: string): string =>
  name
    .replace(/^SLOWWAVE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');

function usualOf(schema: z.ZodType): string | null {
  const { success, data } = schema.safeParse(undefined);
  return success && data !== undefined ? String(data) : null;
}
