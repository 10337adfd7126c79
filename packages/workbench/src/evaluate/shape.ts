import { cleanText } from '@slowwave/engine';

/** The file is not of the form. */
export class WorldError extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new WorldError(`expected JSON, got something else: ${error instanceof Error ? error.message : error}`);
  }
}

export function asObject(value: unknown, where: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new WorldError(`expected ${where} to be an object, got ${kindOf(value)}`);
}

export function listOf(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new WorldError(`expected ${where} to be a list, got ${kindOf(value)}`);
}

/** Cleaned the way every text is before it becomes a memory, so that texts can be compared as they are. */
export function textOf(value: unknown, where: string): string {
  if (typeof value === 'string' && value.trim() !== '') return cleanText(value).trim();
  throw new WorldError(`expected ${where} to be a text, got ${kindOf(value)}`);
}

/** As ISO 8601 in UTC; null where none is given. */
export function momentOf(value: unknown, where: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return new Date(value).toISOString();
  throw new WorldError(`expected ${where} to be a moment in ISO 8601, got ${JSON.stringify(value)}`);
}

const kindOf = (value: unknown): string =>
  value === undefined ? 'nothing' : value === '' ? 'an empty text' : JSON.stringify(value).slice(0, 60);
