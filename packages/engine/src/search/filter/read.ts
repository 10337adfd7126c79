import { type Asked, fieldNamed, isOperator, metadataField, operatorFor, unknownField } from './fields.ts';
import type { Filter } from './filter.ts';
import { type Budget, budget, DEPTH_MAX, KEYS_MAX } from './limits.ts';
import { mistake, shortened } from './mistake.ts';
import { readTest } from './read-test.ts';
import { readKey } from './read-values.ts';

/** Reads a filter as a caller wrote it; throws a FilterError that names the place of the first mistake. */
export function readFilter(json: unknown, path = 'filters'): Filter {
  return readNode(json, { path, depth: 0, budget: budget() });
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

const tooManyKeys = (path: string) => mistake(path, `at most ${KEYS_MAX} keys inside each other`, 'more');

const inside = (place: Place, key: string): Place => ({ ...place, path: `${place.path}.${shortened(key)}` });

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
