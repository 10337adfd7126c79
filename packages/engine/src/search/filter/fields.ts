import { DAY_MS, millisOf } from '../../text/dates.ts';
import type { Field, Scalar } from './filter.ts';

/** Characters of one text, and of one key of metadata. */
const TEXT_MAX = 1_000;
const KEY_MAX = 128;

/** What a field holds, which decides what may be asked of it. */
type Kind = 'id' | 'list' | 'text' | 'moment' | 'flag' | 'number' | 'any';

export type Operator = 'eq' | 'ne' | 'in' | 'nin' | 'gt' | 'gte' | 'lt' | 'lte' | 'contains' | 'icontains';

const EQUALS = ['eq', 'ne', 'in', 'nin'] as const;
const COMPARES = ['gt', 'gte', 'lt', 'lte'] as const;
const CONTAINS = ['contains', 'icontains'] as const;
const ALL = [...EQUALS, ...COMPARES, ...CONTAINS] as const;

const OPERATORS: Readonly<Record<Kind, readonly Operator[]>> = {
  id: EQUALS,
  list: [...EQUALS, ...CONTAINS],
  text: CONTAINS,
  moment: ['eq', 'ne', ...COMPARES],
  flag: ['eq', 'ne'],
  number: [...EQUALS, ...COMPARES],
  any: ALL,
};

/** By the name it has in a filter; the last three are what mem0 calls them. */
const FIELDS: Readonly<Record<string, { readonly field: Field; readonly kind: Kind }>> = {
  user_id: { field: { name: 'userId' }, kind: 'id' },
  agent_id: { field: { name: 'agentId' }, kind: 'id' },
  run_id: { field: { name: 'runId' }, kind: 'id' },
  app_id: { field: { name: 'appId' }, kind: 'id' },
  id: { field: { name: 'memoryId' }, kind: 'id' },
  memory_id: { field: { name: 'memoryId' }, kind: 'id' },
  memory: { field: { name: 'text' }, kind: 'text' },
  categories: { field: { name: 'category' }, kind: 'list' },
  created_at: { field: { name: 'createdAt' }, kind: 'moment' },
  updated_at: { field: { name: 'updatedAt' }, kind: 'moment' },
  said_at: { field: { name: 'saidAt' }, kind: 'moment' },
  valid_from: { field: { name: 'validFrom' }, kind: 'moment' },
  expires_at: { field: { name: 'expiresAt' }, kind: 'moment' },
  immutable: { field: { name: 'immutable' }, kind: 'flag' },
  confirmations: { field: { name: 'confirmations' }, kind: 'number' },
  memory_ids: { field: { name: 'memoryId' }, kind: 'id' },
  keywords: { field: { name: 'text' }, kind: 'text' },
  timestamp: { field: { name: 'saidAt' }, kind: 'moment' },
};

/** A field with the place where it stands in the filter. */
export interface Asked {
  readonly field: Field;
  readonly kind: Kind;
  readonly path: string;
}

/** The field of this name, or null; metadata is none of these. */
export function fieldNamed(name: string, path: string): Asked | null {
  const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  return known === undefined ? null : { ...known, path };
}

export const metadataField = (keys: readonly string[], path: string): Asked => ({
  field: { name: 'metadata', keys },
  kind: 'any',
  path,
});

export const unknownField = (path: string, name: string) =>
  mistake(path, `AND, OR, NOT or a field: ${Object.keys(FIELDS).join(', ')}, metadata.<key>`, name);

export const isOperator = (name: string): boolean => ALL.some((operator) => operator === name);

/** The operator of this name, if the field takes it. `written` is what a caller wrote who meant it. */
export function operatorFor({ kind, path }: Asked, name: string, written: unknown = name): Operator {
  const operator = OPERATORS[kind].find((one) => one === name);
  if (operator === undefined) throw mistake(path, `an operator of this field: ${OPERATORS[kind].join(', ')}`, written);
  return operator;
}

/** A value to be equal to. */
export function readScalar({ kind, path }: Asked, value: unknown): Scalar {
  if (kind === 'flag') return readFlag(path, value);
  if (kind === 'number') return readNumber(path, value, 'a number');
  if (kind !== 'any') return readText(path, value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return readNumber(path, value, 'a string, a number, true or false');
  if (typeof value === 'string') return readText(path, value);
  throw mistake(path, 'a string, a number, true or false', value);
}

/** A value to be above or below of. */
export function readLimit({ kind, path }: Asked, value: unknown): string | number {
  if (kind === 'any' && typeof value === 'string') return readText(path, value);
  return readNumber(path, value, kind === 'any' ? 'a number or a text' : 'a number');
}

/** Text to be found in another. */
export function readPart(path: string, value: unknown): string {
  const text = readText(path, value);
  if (text === '') throw mistake(path, 'a string of at least one character', value);
  return text;
}

/** The first millisecond of a moment and the first after it; a day without a time is as long as a day, in UTC. */
interface Moment {
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
  if (UNUSUAL.test(key)) throw mistake(path, 'a key without control characters and half surrogates', key);
}

// Stores keep such characters in ways of their own, and nobody looks for them.
const UNUSUAL = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;

function readText(path: string, value: unknown): string {
  if (typeof value !== 'string') throw mistake(path, 'a text', value);
  if (value.length > TEXT_MAX) throw mistake(path, `a string of at most ${TEXT_MAX} characters`, value);
  if (UNUSUAL.test(value)) throw mistake(path, 'a string without control characters and half surrogates', value);
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

/** What is wrong with a filter, and where. */
export class FilterError extends Error {
  /** As in filters.AND[0].created_at.gte. */
  readonly path: string;
  readonly expected: string;
  readonly got: string;

  constructor(path: string, expected: string, got: string) {
    super(`${path}: expected ${expected}, got ${got}`);
    this.name = 'FilterError';
    this.path = path;
    this.expected = expected;
    this.got = got;
  }
}

export function mistake(path: string, expected: string, value: unknown): FilterError {
  return new FilterError(path, expected, told(value));
}

/** Longest piece of a filter that a message repeats, in characters. */
const ECHO_MAX = 60;

export const shortened = (text: string): string => (text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text);

/** A value in a few words. */
function told(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return shortened(JSON.stringify(value));
  if (typeof value === 'object' && value !== null) return `an object with ${keysOf(value)}`;
  return value === undefined ? 'nothing' : String(value);
}

const keysOf = (value: object): string => shortened(Object.keys(value).join(', ')) || 'no keys';
