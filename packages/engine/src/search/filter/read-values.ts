import { DAY_MS } from '../../models/budget.ts';
import { millisOf } from '../../text/iso.ts';
import type { Asked } from './fields.ts';
import type { Scalar } from './filter.ts';
import { KEY_MAX, TEXT_MAX } from './limits.ts';
import { mistake } from './mistake.ts';

/** A value to be equal to. */
export function readScalar({ kind, path }: Asked, value: unknown): Scalar {
  if (kind === 'flag') return readFlag(path, value);
  if (kind === 'number') return readNumber(path, value, 'a number');
  if (kind !== 'any') return readText(path, value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return readNumber(path, value, 'a text, a number, true or false');
  if (typeof value === 'string') return readText(path, value);
  throw mistake(path, 'a text, a number, true or false', value);
}

/** A value to be above or below of. */
export function readLimit({ kind, path }: Asked, value: unknown): string | number {
  if (kind === 'any' && typeof value === 'string') return readText(path, value);
  return readNumber(path, value, kind === 'any' ? 'a number or a text' : 'a number');
}

/** Text to be found in another. */
export function readPart(path: string, value: unknown): string {
  const text = readText(path, value);
  if (text === '') throw mistake(path, 'a text of at least one character', value);
  return text;
}

/** The first millisecond of a moment and the first after it; a day without a time is as long as a day, in UTC. */
export interface Moment {
  readonly from: number;
  readonly until: number;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WITH_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;

export function readMoment(path: string, value: unknown): Moment {
  const text = typeof value === 'string' ? value : '';
  const from = DAY.test(text) || WITH_TIME.test(text) ? millisOf(text) : null;
  if (from === null) throw mistake(path, 'a day like 2026-03-01 or a time like 2026-03-01T09:30:00Z', value);
  return { from, until: from + (DAY.test(text) ? DAY_MS : 1) };
}

/** A key of metadata. */
export function readKey(path: string, key: string): void {
  if (key === '') throw mistake(path, 'a key of at least one character', key);
  if (key.length > KEY_MAX) throw mistake(path, `keys of at most ${KEY_MAX} characters`, key);
  if (UNUSUAL.test(key)) throw mistake(path, 'a key without control characters and halves of characters', key);
}

// Stores keep such characters in ways of their own, and nobody looks for them.
const UNUSUAL = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;

function readText(path: string, value: unknown): string {
  if (typeof value !== 'string') throw mistake(path, 'a text', value);
  if (value.length > TEXT_MAX) throw mistake(path, `a text of at most ${TEXT_MAX} characters`, value);
  if (UNUSUAL.test(value)) throw mistake(path, 'a text without control characters and halves of characters', value);
  return value;
}

function readFlag(path: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw mistake(path, 'true or false', value);
  return value;
}

function readNumber(path: string, value: unknown, expected: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw mistake(path, expected, value);
}
