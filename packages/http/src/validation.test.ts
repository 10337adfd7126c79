import { WaitQuery } from '@slowwave/contracts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { KeyHeader } from './idempotency.ts';
import { validator } from './validation.ts';

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

test('what one request gets of a query without parameters is not what the next one gets', () => {
  const check = checks(WaitQuery.strict(), 'querystring');
  expect(check({}).value).not.toBe(check({}).value);
});
