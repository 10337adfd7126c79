import { DAY_MS, millisOf } from '../../text/dates.ts';
import {
  type Comparison,
  type Field,
  type Filter,
  FilterError,
  fold,
  mistake,
  NOTHING,
  type Scalar,
  shortened,
  type Test,
} from './filter.ts';

/** Reads a filter as a caller wrote it; throws a FilterError that names the place of the first mistake. */
export function readFilter(json: unknown, path = 'filters'): Filter {
  return readNode(json, { path, depth: 0, budget: budget() });
}

/** The same of a filter in a query string, as JSON; null without one. */
export const filterIn = (text: string | undefined): Filter | null =>
  text === undefined ? null : readFilter(parsed(text));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FilterError('filters', 'an object as JSON, percent-encoded', 'text that is not JSON');
  }
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly budget: Budget;
}

type Members = Readonly<Record<string, unknown>>;

/** What stands side by side in one object has to be true together. */
function readNode(value: unknown, place: Place): Filter {
  if (!isMembers(value)) throw mistake(place.path, 'an object', value);
  countEmpty(Object.keys(value), place);
  return together(Object.entries(value).map(([key, given]) => readMember(key, given, inside(place, key))));
}

const together = (of: readonly Filter[]): Filter =>
  of.length === 1 && of[0] !== undefined ? of[0] : { kind: 'all', of };

function readMember(key: string, value: unknown, place: Place): Filter {
  switch (key) {
    case 'AND':
      return { kind: 'all', of: readNodes(value, place) };
    case 'OR':
      return { kind: 'any', of: readNodes(value, place) };
    case 'NOT':
      return { kind: 'not', of: readNegated(value, place) };
    case 'metadata':
      return readMetadata([], value, place);
    default:
      return readField(fieldOf(key, place.path), value, place);
  }
}

/** Of a list none may be true; an object may not be true as a whole. */
const readNegated = (value: unknown, place: Place): Filter =>
  isMembers(value) ? readNode(value, deeper(place)) : { kind: 'any', of: readNodes(value, place) };

function readNodes(value: unknown, place: Place): Filter[] {
  if (!Array.isArray(value)) throw mistake(place.path, 'a list of filters', value);
  countEmpty(value, place);
  return value.map((one, i) => readNode(one, deeper({ ...place, path: `${place.path}[${i}]` })));
}

function deeper(place: Place): Place {
  const depth = place.depth + 1;
  if (depth > DEPTH_MAX) throw mistake(place.path, `at most ${DEPTH_MAX} levels of AND, OR and NOT`, 'more');
  return { ...place, depth };
}

const METADATA = 'metadata.';

function fieldOf(key: string, path: string): Asked {
  if (!key.startsWith(METADATA)) {
    const known = fieldNamed(key, path);
    if (known === null) throw unknownField(path, key);
    return known;
  }
  const keys = key.slice(METADATA.length).split('.');
  if (keys.length > KEYS_MAX) throw tooManyKeys(path);
  for (const one of keys) readKey(path, one);
  return metadataField(keys, path);
}

/** A value, a list of values, or operators, all of which have to be true. */
function readField(asked: Asked, value: unknown, place: Place): Filter {
  if (!isMembers(value)) {
    if (value === '*')
      return counted(place, () => ({ kind: 'condition', field: asked.field, test: { kind: 'present' } }));
    const operator = operatorFor(asked, Array.isArray(value) ? 'in' : 'eq', value);
    return counted(place, () => readTest(asked, { operator, value }, place.budget));
  }
  const tests = Object.entries(value);
  if (tests.length === 0) throw mistake(place.path, 'a value, a list of values, or operators', value);
  return together(
    tests.map(([name, given]) => {
      const operator = operatorFor(asked, name);
      const at = inside(place, name);
      return counted(at, () => readTest({ ...asked, path: at.path }, { operator, value: given }, place.budget));
    }),
  );
}

/** What has no condition inside is one itself: thousands of nothing would be a statement too large for a store. */
function countEmpty({ length }: readonly unknown[], { budget, path }: Place): void {
  if (length === 0) budget.condition(path);
}

function counted(place: Place, read: () => Filter): Filter {
  place.budget.condition(place.path);
  return read();
}

/** An object of operators asks for the value here; any other object goes on to what is inside. Keys are taken as they are. */
function readMetadata(keys: readonly string[], value: unknown, place: Place): Filter {
  const members = isMembers(value) ? Object.entries(value) : [];
  const asksHere = members.some(([key]) => isOperator(key));
  if (keys.length > 0 && (members.length === 0 || asksHere))
    return readField(metadataField(keys, place.path), value, place);
  if (!isMembers(value)) throw mistake(place.path, 'an object of keys', value);
  countEmpty(members, place);
  return together(
    members.map(([key, given]) => {
      const at = inside(place, key);
      readKey(at.path, key);
      if (keys.length >= KEYS_MAX) throw tooManyKeys(at.path);
      return readMetadata([...keys, key], given, at);
    }),
  );
}

const tooManyKeys = (path: string) => mistake(path, `at most ${KEYS_MAX} nested keys`, 'more');

const inside = (place: Place, key: string): Place => ({ ...place, path: `${place.path}.${shortened(key)}` });

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Given {
  readonly operator: Operator;
  readonly value: unknown;
}

/** One operator with what it was given. */
function readTest(asked: Asked, { operator, value }: Given, budget: Budget): Filter {
  switch (operator) {
    case 'eq':
      return equals(asked, [value]);
    case 'ne':
      return not(equals(asked, [value]));
    case 'in':
      return equals(asked, listed(asked, value, budget));
    case 'nin':
      return not(equals(asked, listed(asked, value, budget)));
    case 'contains':
      return tested(asked, { kind: 'contains', text: readPart(asked.path, value), folded: false });
    case 'icontains':
      return tested(asked, { kind: 'contains', text: fold(readPart(asked.path, value)), folded: true });
    default:
      return compares(asked, operator, value);
  }
}

const tested = ({ field }: Asked, test: Test): Filter => ({ kind: 'condition', field, test });
const not = (of: Filter): Filter => ({ kind: 'not', of });

function listed({ path }: Asked, value: unknown, budget: Budget): readonly unknown[] {
  if (!Array.isArray(value)) throw mistake(path, 'a list of values', value);
  budget.values(value.length, path);
  return value;
}

/** Any of these; null stands for what has no value. */
function equals(asked: Asked, given: readonly unknown[]): Filter {
  const some = given.filter((value) => value !== null);
  const any: Filter[] =
    asked.kind === 'moment' ? some.map((value) => within(asked, value)) : equalsScalars(asked, some);
  if (some.length < given.length) any.push(not(tested(asked, { kind: 'present' })));
  return any.length === 1 ? (any[0] ?? NOTHING) : { kind: 'any', of: any };
}

function equalsScalars(asked: Asked, given: readonly unknown[]): Filter[] {
  const isList = given.length > 1;
  const values = given.map((value, i) =>
    readScalar({ ...asked, path: isList ? `${asked.path}[${i}]` : asked.path }, value),
  );
  return values.length === 0 ? [] : [tested(asked, { kind: 'equals', values })];
}

function compares(asked: Asked, by: Comparison, value: unknown): Filter {
  if (asked.kind !== 'moment') return tested(asked, { kind: 'compares', by, to: readLimit(asked, value) });
  const { from, until } = readMoment(asked.path, value);
  if (by === 'gt') return above(asked, until);
  if (by === 'gte') return above(asked, from);
  return below(asked, by === 'lt' ? from : until);
}

function within(asked: Asked, value: unknown): Filter {
  const { from, until } = readMoment(asked.path, value);
  return { kind: 'all', of: [above(asked, from), below(asked, until)] };
}

const above = (asked: Asked, to: number): Filter => tested(asked, { kind: 'compares', by: 'gte', to });
const below = (asked: Asked, to: number): Filter => tested(asked, { kind: 'compares', by: 'lt', to });

/** Levels of AND, OR and NOT inside each other: people write three, programs five. */
const DEPTH_MAX = 10;
/** Conditions of one filter: each costs some microseconds per memory that is looked at. */
const CONDITIONS_MAX = 100;
/** Values in all lists of one filter together: a page of ids, five times over. */
const VALUES_MAX = 1_000;
/** Keys of metadata inside each other. */
const KEYS_MAX = 10;

/** Counts what one filter is made of, and refuses what goes beyond. */
interface Budget {
  condition(path: string): void;
  values(count: number, path: string): void;
}

function budget(): Budget {
  let conditions = 0;
  let values = 0;
  return {
    condition: (path) => {
      conditions += 1;
      if (conditions > CONDITIONS_MAX) throw tooMany(path, `at most ${CONDITIONS_MAX} conditions`, conditions);
    },
    values: (count, path) => {
      values += count;
      if (values > VALUES_MAX) throw tooMany(path, `at most ${VALUES_MAX} values across all lists`, values);
    },
  };
}

const tooMany = (path: string, expected: string, count: number): FilterError =>
  new FilterError(path, expected, `${count} up to here`);

/** Characters of one text, and of one key of metadata. */
const TEXT_MAX = 1_000;
const KEY_MAX = 128;

/** What a field holds, which decides what may be asked of it. */
type Kind = 'id' | 'list' | 'text' | 'moment' | 'flag' | 'number' | 'any';

type Operator = 'eq' | 'ne' | 'in' | 'nin' | 'gt' | 'gte' | 'lt' | 'lte' | 'contains' | 'icontains';

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
  flagged: { field: { name: 'flagged' }, kind: 'flag' },
  trust: { field: { name: 'trust' }, kind: 'id' },
  memory_ids: { field: { name: 'memoryId' }, kind: 'id' },
  keywords: { field: { name: 'text' }, kind: 'text' },
  timestamp: { field: { name: 'saidAt' }, kind: 'moment' },
};

/** A field with the place where it stands in the filter. */
interface Asked {
  readonly field: Field;
  readonly kind: Kind;
  readonly path: string;
}

/** The field of this name, or null; metadata is none of these. */
function fieldNamed(name: string, path: string): Asked | null {
  const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  return known === undefined ? null : { ...known, path };
}

const metadataField = (keys: readonly string[], path: string): Asked => ({
  field: { name: 'metadata', keys },
  kind: 'any',
  path,
});

const unknownField = (path: string, name: string) =>
  mistake(path, `AND, OR, NOT or a field: ${Object.keys(FIELDS).join(', ')}, metadata.<key>`, name);

const isOperator = (name: string): boolean => ALL.some((operator) => operator === name);

/** The operator of this name, if the field takes it. `written` is what a caller wrote who meant it. */
function operatorFor({ kind, path }: Asked, name: string, written: unknown = name): Operator {
  const operator = OPERATORS[kind].find((one) => one === name);
  if (operator === undefined) throw mistake(path, `an operator of this field: ${OPERATORS[kind].join(', ')}`, written);
  return operator;
}

/** A value to be equal to. */
function readScalar({ kind, path }: Asked, value: unknown): Scalar {
  if (kind === 'flag') return readFlag(path, value);
  if (kind === 'number') return readNumber(path, value, 'a number');
  if (kind !== 'any') return readText(path, value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return readNumber(path, value, 'a string, a number, true or false');
  if (typeof value === 'string') return readText(path, value);
  throw mistake(path, 'a string, a number, true or false', value);
}

/** A value to be above or below of. */
function readLimit({ kind, path }: Asked, value: unknown): string | number {
  if (kind === 'any' && typeof value === 'string') return readText(path, value);
  return readNumber(path, value, kind === 'any' ? 'a number or a text' : 'a number');
}

/** Text to be found in another. */
function readPart(path: string, value: unknown): string {
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

function readMoment(path: string, value: unknown): Moment {
  const text = typeof value === 'string' ? value : '';
  const from = DAY.test(text) || WITH_TIME.test(text) ? millisOf(text) : null;
  if (from === null) throw mistake(path, 'a day like 2026-03-01 or a time like 2026-03-01T09:30:00Z', value);
  return { from, until: from + (DAY.test(text) ? DAY_MS : 1) };
}

/** A key of metadata. */
function readKey(path: string, key: string): void {
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

/** The filter of what deletes, as JSON in a query string; null without one. Whoever gives a filter does not mean everything. */
export function narrowingFilterIn(text: string | undefined): Filter | null {
  const filter = filterIn(text);
  if (filter === null || !isTrueOfAll(filter)) return filter;
  throw new FilterError('filters', NARROWING, 'a filter that matches every memory');
}

const NARROWING =
  'at least one condition that can rule a memory out (to delete all memories of the owner, omit filters)';

/** Whether it leaves out nothing: it has no condition, or none that matters. */
const isTrueOfAll = (filter: Filter): boolean => constantOf(filter) === true;

/** What a filter is of every memory, whatever it is like; null: that depends on the memory. */
function constantOf(filter: Filter): boolean | null {
  if (filter.kind === 'condition') return null;
  if (filter.kind === 'not') {
    const of = constantOf(filter.of);
    return of === null ? null : !of;
  }
  const deciding = filter.kind === 'any';
  const parts = filter.of.map(constantOf);
  if (parts.includes(deciding)) return deciding;
  return parts.includes(null) ? null : !deciding;
}
