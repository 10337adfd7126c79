import { pick } from '@slowwave/engine-testing';
import { type Description, resolved, type Schema } from '@slowwave/testkit';

export interface Making {
  readonly description: Description;
  readonly random: () => number;
  /** Ids that the server has given out, so that some requests are about something. */
  readonly ids: readonly string[];
}

/** Deeper than this only what must be there is made. */
const DEEP = 5;
const MANY = 3;
/** How often something is made that may be left out. */
const OFTEN = 0.4;

/** A value that fits the schema, as far as a simple reading of it goes. */
export function fitting(making: Making, given: Schema, depth = 0): unknown {
  const { random } = making;
  const schema = resolved(making.description, given);
  const { examples = [] } = schema;
  if (examples.length > 0 && random() < OFTEN) return pick(examples, random);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return pick(schema.enum, random);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fitting(making, pick(choices, random), depth + 1);
  switch (typeof schema.type === 'string' ? schema.type : pick(schema.type ?? ['any'], random)) {
    case 'string':
      return textFor(making, schema);
    case 'integer':
    case 'number':
      return numberFor(schema, random);
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    case 'array':
      return listFor(making, schema, depth);
    case 'object':
      return objectFor(making, schema, depth);
    default:
      return pick(ANYTHING, random);
  }
}

const ANYTHING: readonly unknown[] = [null, true, 0, -1.5, 'text', '小明', ['a', 1], { deep: { er: [null] } }];

const TEXTS: readonly string[] = [
  'ana',
  'I live in Oslo',
  '小明住在上海 👋',
  '2026-03-01T12:00:00Z',
  '2020-01-01T00:00:00.123+02:00',
  'food',
  "'; DROP TABLE batches; --",
  '{"AND":[]}',
  '%_\\"',
  'a'.repeat(300),
];

function textFor({ random, ids }: Making, { pattern, minLength = 0, maxLength = 100_000 }: Schema): string {
  const fits = pattern === undefined ? () => true : (text: string) => new RegExp(pattern, 'u').test(text);
  const known = [...TEXTS, ...ids.slice(-5)].filter(
    (text) => text.length >= minLength && text.length <= maxLength && fits(text),
  );
  return known.length === 0 ? 'x'.repeat(Math.max(1, minLength)) : pick(known, random);
}

const INT_MAX = 1_000;

function numberFor({ minimum = -INT_MAX, maximum = INT_MAX, type }: Schema, random: () => number): number {
  const most = Math.min(maximum, minimum + INT_MAX);
  const value = minimum + random() * (most - minimum);
  return type === 'integer' ? Math.round(value) : value;
}

function listFor(making: Making, { items = {}, minItems = 0, maxItems = MANY }: Schema, depth: number): unknown[] {
  const room = Math.min(maxItems, minItems + (depth > DEEP ? 0 : MANY));
  const count = minItems + Math.floor(making.random() * (room - minItems + 1));
  return Array.from({ length: count }, () => fitting(making, items, depth + 1));
}

function objectFor(making: Making, schema: Schema, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const made: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(properties)) {
    const wanted = required.includes(name) || (depth <= DEEP && making.random() < OFTEN);
    if (wanted) made[name] = fitting(making, one, depth + 1);
  }
  if (typeof additionalProperties === 'object' && making.random() < OFTEN) {
    made[pick(['source', 'key', 'né'], making.random)] = fitting(making, additionalProperties, depth + 1);
  }
  return made;
}

/** Values that programs stumble over. */
const ODD: readonly unknown[] = [
  null,
  '',
  ' ',
  '\u0000',
  '\ud800',
  'x'.repeat(70_000),
  '__proto__',
  -1,
  0,
  1e308,
  Number.MAX_SAFE_INTEGER + 1,
  1.5,
  true,
  [],
  {},
  [[[[[[[[]]]]]]]],
  { __proto__: null, constructor: 1, $where: '1' },
  '2026-02-30T00:00:00Z',
  '9999999-01-01T00:00:00Z',
  '../../etc/passwd',
];

/** The value with one thing in it that does not belong there, or is missing. */
export function spoiled(value: unknown, random: () => number): unknown {
  if (Array.isArray(value) && value.length > 0 && random() < 0.8) return spoiledIn(value, random);
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && random() < 0.9) {
    return spoiledField(value as Record<string, unknown>, random);
  }
  return pick(ODD, random);
}

function spoiledIn(values: readonly unknown[], random: () => number): unknown[] {
  const at = Math.floor(random() * values.length);
  return values.map((value, i) => (i === at ? spoiled(value, random) : value));
}

function spoiledField(value: Record<string, unknown>, random: () => number): Record<string, unknown> {
  const name = pick(Object.keys(value), random);
  const { [name]: field, ...rest } = value;
  const how = random();
  if (how < 0.2) return rest;
  if (how < 0.35)
    return { ...value, [pick(['unknown', 'user_id', 'tenant', '__proto__x'], random)]: pick(ODD, random) };
  return { ...value, [name]: spoiled(field, random) };
}

/** Texts that are no JSON, or too much of it. */
export const BROKEN_BODIES: readonly string[] = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{"a":1,}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  '{"user_id":"ana","user_id":"bob","__proto__":{"tenant":"other"}}',
  '\ufeff{}',
];
