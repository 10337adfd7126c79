import { WaitQuery } from '@slowwave/contracts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { KeyHeader } from './route.ts';
import { mistakes, validator } from './validation.ts';

const checks = (schema: z.ZodType, httpPart: string) =>
  validator({ schema, httpPart, method: 'POST', url: '/' }) as (data: unknown) => { value?: unknown; error?: Error };

const QUERIES = [{}, { wait: '5' }, { wait: '-1' }, { wait: '' }, { other: '1' }];
const HEADERS = [
  {},
  { host: 'localhost' },
  { host: 'localhost', 'idempotency-key': 'a' },
  { 'idempotency-key': '' },
  { 'idempotency-key': 'x'.repeat(300) },
];

test.each([
  ['querystring', WaitQuery.strict(), QUERIES],
  ['querystring', z.strictObject({ id: z.string() }), [{}, { id: 'a' }]],
  ['headers', KeyHeader, HEADERS],
  ['headers', z.strictObject({ host: z.string().optional() }), HEADERS],
  ['headers', z.object({ host: z.string().default('none') }), HEADERS],
  ['headers', z.looseObject({ accept: z.string().default('all') }), HEADERS],
] as const)('a part of a request (%s) is taken or refused as its schema says', (part, schema, given) => {
  const check = checks(schema, part);
  for (const data of given) {
    const parsed = schema.safeParse(data);
    const checked = check(data);
    expect(checked.error === undefined).toBe(parsed.success);
    if (parsed.success) expect(checked.value).toEqual(parsed.data);
  }
});

test('a list in an address is described by the part of it that is wrong', () => {
  const Listed = z.strictObject({
    by: z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(z.enum(['day', 'step']))),
  });
  const input = { by: 'day,moon' };
  expect(mistakes(Listed.safeParse(input).error?.issues ?? [], input)).toEqual([
    { path: 'by[1]', message: 'expected one of "day", "step", got "moon"' },
  ]);
});

test('what one request gets of a query without parameters is not what the next one gets', () => {
  const check = checks(WaitQuery.strict(), 'querystring');
  expect(check({}).value).not.toBe(check({}).value);
});

/** A schema that counts how often it is asked, and takes nothing but texts. */
function counting() {
  const asked = { times: 0 };
  const schema = z.unknown().refine((value) => {
    asked.times += 1;
    return typeof value === 'string';
  }, 'expected a text');
  return { asked, schema };
}

test.each([
  ['a list', (item: z.ZodType) => z.strictObject({ list: z.array(item) }), (of: unknown[]) => ({ list: of })],
  [
    'lists of a list, in a union, that may be left out',
    (item: z.ZodType) => z.strictObject({ list: z.array(z.union([z.null(), z.array(item)])).optional() }),
    (of: unknown[]) => ({ list: of.map((one) => [one]) }),
  ],
])('%s is not looked at after twenty mistakes, and no more than twenty are told', (_of, schemaOf, body) => {
  const { asked, schema } = counting();
  const given = ['right', ...Array.from({ length: 5_000 }, () => 1)];
  const { error } = checks(schemaOf(schema), 'body')(body(given));
  expect(asked.times).toBe(21);
  expect((error as { errors?: unknown[] }).errors).toHaveLength(20);
});

test('of a list that is too long not one item is looked at', () => {
  const { asked, schema } = counting();
  const { error } = checks(z.strictObject({ list: z.array(schema).max(3) }), 'body')({ list: [1, 2, 3, 4] });
  expect(error?.message).toBe('the body is not valid: list: expected at most 3 items, got an array of 4');
  expect(asked.times).toBe(0);
});

test('of thousands of unknown fields twenty are named, and that there are more', () => {
  const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]));
  const { error } = checks(z.strictObject({ id: z.string().optional() }), 'body')(body);
  expect(error?.message).toContain('(and at least 19 more, see errors)');
  expect((error as { errors?: unknown[] }).errors).toHaveLength(20);
});

test('a list that was refused as none, or as too long, is still not looked at after twenty mistakes', () => {
  const { asked, schema } = counting();
  const check = checks(z.strictObject({ list: z.array(schema).min(1).max(50) }), 'body');
  for (const list of [undefined, 'none', Array.from({ length: 51 }, () => 1)]) {
    expect(check({ list }).error?.message).toContain('list: expected');
    asked.times = 0;
    check({ list: Array.from({ length: 50 }, () => 1) });
    expect(asked.times).toBe(20);
  }
});

test.each([['query'], ['body']])('of a text that is too long (%s) nothing else is asked', (part) => {
  const asked: string[] = [];
  const text = z
    .string()
    .max(4)
    .refine((value) => asked.push(value) > 0);
  const check = checks(z.strictObject({ list: z.array(z.strictObject({ text: text.optional() })) }), part);
  const { error } = check({ list: [{ text: 'tea' }, { text: 'a'.repeat(1_000) }] });
  expect(error?.message).toContain('expected at most 4 characters, got 1000 characters of text');
  expect(asked).toEqual(['tea']);
});

const Part = z.discriminatedUnion('type', [z.strictObject({ type: z.literal('text'), text: z.string() })]);
const Schema = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), z.array(Part).min(1)]),
  at: z.iso.datetime({ offset: true }),
  count: z.int().max(3),
  tags: z.record(z.string().min(1), z.string()),
});
const right = { role: 'user', content: 'hi', at: '2026-03-01T09:30:00Z', count: 1, tags: {} };

test.each([
  [{ role: 'bot' }, 'role', 'expected one of "user", "assistant", got "bot"'],
  [{ role: undefined }, 'role', 'expected one of "user", "assistant", got nothing'],
  [{ content: 5 }, 'content', 'expected a string or an array, got the number 5'],
  [{ content: [] }, 'content', 'expected at least 1 item, got an array of 0'],
  [{ content: [{ type: 'text', text: 7 }] }, 'content[0].text', 'expected a string, got the number 7'],
  [{ content: [{ type: 'film' }] }, 'content[0].type', 'expected "text", got "film"'],
  [{ at: 'soon' }, 'at', 'expected an ISO 8601 time with a UTC offset, like 2026-03-01T09:30:00Z, got "soon"'],
  [{ count: 1.5 }, 'count', 'expected a whole number, got the number 1.5'],
  [{ count: 9 }, 'count', 'expected at most 3, got the number 9'],
  [{ colour: 1 }, 'colour', 'unknown field; remove it or correct its name'],
  [{ tags: { '': 'a' } }, 'tags.', 'expected a key of at least 1 character, got ""'],
])('%j is described by its path, what was expected and what was got', (change, path, message) => {
  const input = { ...right, ...change };
  const { error } = Schema.safeParse(input);
  expect(mistakes(error?.issues ?? [], input)).toEqual([{ path, message }]);
});
