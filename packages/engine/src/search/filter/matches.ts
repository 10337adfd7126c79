import { newest } from '../../memories/evolve.ts';
import type { IndexPoint } from '../../ports/search-index.ts';
import type { Json, Memory } from '../../words.ts';
import type { Comparison, Condition, Field, Filter, Scalar, Test } from './filter.ts';
import { fold } from './fold.ts';

/** What of a memory a filter may ask for. */
export type Filterable = Pick<
  IndexPoint,
  | 'scope'
  | 'memoryId'
  | 'text'
  | 'category'
  | 'metadata'
  | 'immutable'
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
  const { category, metadata, immutable, expiresAt } = details;
  const { id: memoryId, scope, confirmations, createdAt, updatedAt } = memory;
  const ofVersion = { text, saidAt, validFrom, category, metadata, immutable, expiresAt };
  return { ...ofVersion, memoryId, scope, confirmations, createdAt, updatedAt };
}

function holds({ field, test }: Condition, of: Filterable): boolean {
  const value = valueIn(field, of);
  if (value === null) return false;
  if (test.kind === 'present') return true;
  if (Array.isArray(value)) return value.some((element) => holdsOfElement(test, element));
  return holdsOfScalar(test, value);
}

/** The value of a field; null where there is none. A memory's categories are a list, in which a text is looked for whole. */
function valueIn(field: Field, of: Filterable): Json {
  switch (field.name) {
    case 'userId':
    case 'agentId':
    case 'runId':
    case 'appId':
      return of.scope[field.name];
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
function valueBehind(keys: readonly string[], metadata: Json): Json {
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
