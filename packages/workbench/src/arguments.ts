import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The command line cannot be followed. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;

/** Throws UsageError. */
export function argumentsIn<const O extends Options>(args: readonly string[], options: O, allowPositionals = false) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Throws UsageError. */
export function numberOf(flag: string, given: string, max: number): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number <= max) return number;
  throw new UsageError(`expected ${flag} to be a whole number up to ${max}, got ${given}`);
}
