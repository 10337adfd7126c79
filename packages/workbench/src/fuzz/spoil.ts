import { pick } from '@slowwave/engine-testing';

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
