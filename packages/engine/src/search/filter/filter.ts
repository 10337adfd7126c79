import { idListsOf, newest } from '../../memories/evolve.ts';
import type { IndexPoint } from '../../ports/search-index.ts';
import type { Json, Memory, Scope } from '../../words.ts';

/**
 * A filter as it was read: what a memory must be like to be found.
 *
 * Every condition is either true or false of a memory; nothing is ever unknown. A value that is missing, and one that is
 * null, equals nothing, compares with nothing and contains nothing; so their opposites are true of it. A list is as good
 * as any of its elements. Texts, numbers and flags are never taken for each other.
 */
export type Filter =
  | { readonly kind: 'all'; readonly of: readonly Filter[] }
  | { readonly kind: 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | Condition;

export interface Condition {
  readonly kind: 'condition';
  readonly field: Field;
  readonly test: Test;
}

export type Field =
  | { readonly name: 'userId' | 'agentId' | 'runId' | 'appId' | 'memoryId' | 'category' | 'trust' }
  | { readonly name: 'text' | 'immutable' | 'flagged' | 'confirmations' }
  | { readonly name: MomentName }
  /** The value behind these keys, one inside the other. */
  | { readonly name: 'metadata'; readonly keys: readonly string[] };

type MomentName = 'createdAt' | 'updatedAt' | 'saidAt' | 'validFrom' | 'expiresAt';

export type Scalar = string | number | boolean;

export type Test =
  /** There, and not null. */
  | { readonly kind: 'present' }
  /** One of these values, of which there is at least one. */
  | { readonly kind: 'equals'; readonly values: readonly Scalar[] }
  /** Texts are in the order of their code points; moments are numbers. */
  | { readonly kind: 'compares'; readonly by: Comparison; readonly to: string | number }
  /** Part of a text, or an element of a list. Folded: whatever its case, and the text given here is folded already. */
  | { readonly kind: 'contains'; readonly text: string; readonly folded: boolean };

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

export const NOTHING: Filter = { kind: 'any', of: [] };

/** What of a memory a filter may ask for. */
export type Filterable = Pick<
  IndexPoint,
  | 'scope'
  | 'ids'
  | 'memoryId'
  | 'text'
  | 'category'
  | 'metadata'
  | 'immutable'
  | 'flagged'
  | 'trust'
  | 'confirmations'
  | 'saidAt'
  | 'validFrom'
  | 'expiresAt'
  | 'createdAt'
  | 'updatedAt'
>;

/** Whether a filter is true of a memory: what every store has to answer, too. */
export function matches(filter: Filter, of: Filterable): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.of.every((one) => matches(one, of));
    case 'any':
      return filter.of.some((one) => matches(one, of));
    case 'not':
      return !matches(filter.of, of);
    case 'condition':
      return holds(filter, of);
  }
}

/** A memory as it is listed: its newest version. */
export function filterableOf(memory: Memory): Filterable {
  const { text, saidAt, validFrom, details } = newest(memory);
  const { category, metadata, immutable, trust, flagged = false, expiresAt } = details;
  const { id: memoryId, scope, confirmations, createdAt, updatedAt } = memory;
  const ofVersion = { text, saidAt, validFrom, category, metadata, immutable, trust, flagged, expiresAt };
  return { ...ofVersion, memoryId, scope, ids: idListsOf(memory), confirmations, createdAt, updatedAt };
}

const holds = ({ field, test }: Condition, of: Filterable): boolean => isTrueOf(test, valueIn(field, of));

/** Whether a test is true of the value of a field; null: there is none. */
export function isTrueOf(test: Test, value: Json): boolean {
  if (value === null) return false;
  if (test.kind === 'present') return true;
  if (Array.isArray(value)) return value.some((element) => holdsOfElement(test, element));
  return holdsOfScalar(test, value);
}

/** The value of a field; null where there is none. A memory's categories are a list, in which a text is looked for whole. */
function valueIn(field: Field, of: Filterable): Json {
  switch (field.name) {
    case 'userId':
      return of.scope.userId;
    case 'agentId':
    case 'runId':
    case 'appId':
      return of.ids[field.name].length === 0 ? null : [...of.ids[field.name]];
    case 'category':
      return of.category === null ? null : [of.category];
    case 'saidAt':
      return of.saidAt.at;
    case 'metadata':
      return valueBehind(field.keys, of.metadata);
    default:
      return of[field.name];
  }
}

/** Only objects are gone into: a list has no keys. */
export function valueBehind(keys: readonly string[], metadata: Json): Json {
  let value = metadata;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return null;
    value = value[key] ?? null;
  }
  return value;
}

type ValueTest = Exclude<Test, { kind: 'present' }>;

function holdsOfScalar(test: ValueTest, value: Json): boolean {
  switch (test.kind) {
    case 'equals':
      return isOneOf(test.values, value);
    case 'compares':
      return compares(test.by, value, test.to);
    case 'contains':
      return typeof value === 'string' && (test.folded ? fold(value) : value).includes(test.text);
  }
}

/** A list contains a text as a whole, not as a part of an element. */
function holdsOfElement(test: ValueTest, element: Json): boolean {
  if (test.kind !== 'contains') return holdsOfScalar(test, element);
  return typeof element === 'string' && (test.folded ? fold(element) : element) === test.text;
}

const isOneOf = (values: readonly Scalar[], value: Json): boolean => values.some((one) => one === value);

function compares(by: Comparison, value: Json, to: string | number): boolean {
  const order = orderOf(value, to);
  if (order === null) return false;
  if (by === 'gt') return order > 0;
  if (by === 'gte') return order >= 0;
  return by === 'lt' ? order < 0 : order <= 0;
}

/** null: not of one kind. */
function orderOf(a: Json, b: string | number): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'string' && typeof b === 'string' ? byCodePoint(a, b) : null;
}

/** JavaScript's own order puts characters beyond U+FFFF before some of those below. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [i, char] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    const order = (char.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const IDS = ['userId', 'agentId', 'runId', 'appId'] as const;

/**
 * The scope that a filter names by itself: the ids that must be equal to one value whatever else is true. For callers
 * that give no other scope; whoever takes it checks the caller's key against it as against any scope. The filter stays
 * as it is, so that an id it names twice, differently, finds nothing. null when it names no owner.
 */
export function scopeFromFilter(filter: Filter): Scope | null {
  const ids = new Map(required(filter));
  const [userId, agentId, runId, appId] = IDS.map((name) => ids.get(name) ?? null);
  const scope: Scope = { userId: userId ?? null, agentId: agentId ?? null, runId: runId ?? null, appId: appId ?? null };
  return scope.userId === null && scope.agentId === null && scope.runId === null ? null : scope;
}

function required(filter: Filter): (readonly [string, string])[] {
  if (filter.kind === 'all') return filter.of.flatMap(required);
  if (filter.kind !== 'condition' || filter.test.kind !== 'equals') return [];
  const { name } = filter.field;
  const [value, ...more] = filter.test.values;
  if (more.length > 0 || typeof value !== 'string' || !IDS.some((id) => id === name)) return [];
  return [[name, value]];
}

/**
 * Texts whatever their case, the same in every store: character by character, so that a store that has no such function
 * can be asked for any of the characters that are one when folded. What would become several characters (ß, İ) is left
 * as it is; so are scripts without case.
 */

/** Where the characters with case are: first and last. All others fold to themselves. */
const WITH_CASE: readonly (readonly [number, number])[] = [
  [0x41, 0x587], // Latin, Greek, Cyrillic, Armenian
  [0x10a0, 0x10ff], // Georgian
  [0x13a0, 0x13ff], // Cherokee
  [0x1c80, 0x1cbf],
  [0x1d79, 0x1d8e],
  [0x1e00, 0x1fff], // Latin and Greek with marks
  [0x2126, 0x2188], // signs that are letters, Roman numerals
  [0x24b6, 0x24e9],
  [0x2c00, 0x2d2d], // Glagolitic, Coptic
  [0xa640, 0xa7ff],
  [0xab53, 0xabbf],
  [0xff21, 0xff5a], // full width
  [0x10400, 0x105bc],
  [0x10c80, 0x10cf2],
  [0x10d50, 0x10d85],
  [0x118a0, 0x118df],
  [0x16e40, 0x16e7f],
  [0x16ea0, 0x16ed3],
  [0x1e900, 0x1e943],
];

const BEYOND_ASCII = /\P{ASCII}/u;

/** Two texts are the same whatever their case when they fold to the same. */
export function fold(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const { folded } = tables();
  return Array.from(text, (char) => folded.get(char) ?? char).join('');
}

/** Every character that folds to what this one folds to. */
export function sameFolded(char: string): readonly string[] {
  const { folded, same } = tables();
  return same.get(folded.get(char) ?? char) ?? [char];
}

interface Tables {
  /** Of the characters that fold to another. */
  readonly folded: ReadonlyMap<string, string>;
  /** By what they fold to. */
  readonly same: ReadonlyMap<string, readonly string[]>;
}

let made: Tables | null = null;

/** Made when first needed: it takes some milliseconds. */
function tables(): Tables {
  made ??= make();
  return made;
}

function make(): Tables {
  const folded = new Map<string, string>();
  const same = new Map<string, string[]>();
  for (const [first, last] of WITH_CASE) {
    for (let code = first; code <= last; code += 1) {
      const char = String.fromCodePoint(code);
      const to = foldChar(char);
      if (to === char) continue;
      folded.set(char, to);
      same.set(to, [...(same.get(to) ?? [to]), char]);
    }
  }
  return { folded, same };
}

/** By way of the capital: two small letters can have one and the same (σ and ς). */
const foldChar = (char: string): string => single(single(char, 'toUpperCase'), 'toLowerCase');

function single(char: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = char[change]();
  return changed.length === char.length && [...changed].length === 1 ? changed : char;
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

export const mistake = (path: string, expected: string, value: unknown): FilterError =>
  new FilterError(path, expected, shown(value));

/** Longest piece of a filter that a message repeats, in characters. */
const ECHO_MAX = 60;

export const shortened = (text: string): string => (text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text);

function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return shortened(JSON.stringify(value));
  if (typeof value === 'object' && value !== null)
    return `an object with ${shortened(Object.keys(value).join(', ')) || 'no keys'}`;
  return value === undefined ? 'nothing' : String(value);
}
