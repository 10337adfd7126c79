import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { App } from './shell.ts';
import { testShell } from './testing.ts';

const VALUES = 100_000;
const LEVELS = 64;
const closing: App[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

/** An app that says what it got, and counts how often its schema was asked about a value. */
async function start() {
  const { app } = await testShell();
  closing.push(app);
  const asked = { times: 0 };
  const value = z.unknown().refine(() => {
    asked.times += 1;
    return true;
  });
  const schema = { body: z.record(z.string(), value) };
  app.post('/v1/batches', { schema }, async ({ body }) => ({ got: body }));
  const post = async (payload: string | Buffer) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: '/v1/batches', headers, payload });
    return { status: answer.statusCode, ...answer.json() };
  };
  return { post, asked };
}

const ones = (count: number): string => Array.from({ length: count }, () => '1').join();
const fields = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test.each([
  ['fields', `{${fields(VALUES + 1)}}`],
  ['fields of one name', `{${'"a":1,'.repeat(VALUES)}"a":1}`],
  ['items', `{"list":[${ones(VALUES)}]}`],
  ['items of lists in a list', `{"list":[${Array.from({ length: VALUES / 4 }, () => `[${ones(3)}]`).join()}]}`],
  ['items that are empty lists', `{"list":[${Array.from({ length: VALUES }, () => '[ ]').join()}]}`],
  ['items behind a text of quotes', `{"a":"${'\\"'.repeat(1_000)}\\\\","list":[${ones(VALUES - 1)}]}`],
])('a body of too many %s is refused before its schema sees one of them', async (_of, body) => {
  const { post, asked } = await start();
  expect(await post(body)).toMatchObject({
    status: 400,
    code: 'invalid_request',
    detail: 'expected the body to have at most 100000 fields and items, got more; send it in smaller parts',
  });
  expect(asked.times).toBe(0);
});

test.each([
  ['fields', `{${fields(VALUES)}}`],
  ['items', `{"list":[${ones(VALUES - 1)}]}`],
  ['items that are empty lists', `{"list":[${Array.from({ length: VALUES - 1 }, () => '[ ]').join()}]}`],
  ['commas in a text', JSON.stringify({ text: ',[{'.repeat(VALUES) })],
  ['commas in a text that ends with a backslash', JSON.stringify({ text: `${',"'.repeat(VALUES)}\\` })],
])('a body of as many %s as it may have is read', async (_of, body) => {
  const { post } = await start();
  expect((await post(body)).got).toEqual(JSON.parse(body));
});

test('levels are counted before a schema sees them, and as many as are allowed are read', async () => {
  const { post, asked } = await start();
  const within = nested(LEVELS - 1);
  expect((await post(`{"a":${within},"b":${within}}`)).got).toEqual({ a: JSON.parse(within), b: JSON.parse(within) });
  asked.times = 0;
  const objects = `${'{"a":'.repeat(LEVELS + 1)}1${'}'.repeat(LEVELS + 1)}`;
  for (const body of [`{"a":${nested(LEVELS)}}`, `{"a":[1,{"b":${nested(LEVELS)}}]}`, objects, nested(VALUES - 1)]) {
    expect((await post(body)).detail).toContain('at most 64 levels');
  }
  expect(asked.times).toBe(0);
});

test('very many levels are refused before they are parsed', async () => {
  const { post } = await start();
  // Neither is JSON: nobody came far enough to see it.
  for (const body of ['['.repeat(4_000_000), '{"a":'.repeat(1_000_000)]) {
    expect((await post(body)).detail).toContain('at most 100000 fields and items');
  }
});

test.each([
  '{"__proto__":{}}',
  '{"a":[{"__proto__":1}]}',
  '{"\\u005f_proto__":{}}',
  '{"constructor":{"prototype":{}}}',
  '{"a":{"constr\\u0075ctor":{"prototype":1}}}',
  `{${fields(100)},"a":${nested(LEVELS - 1)},"__proto__":{}}`,
])('%s could reach a prototype and is refused', async (body) => {
  const { post, asked } = await start();
  expect(await post(body)).toMatchObject({ status: 400, code: 'invalid_json' });
  expect(asked.times).toBe(0);
});

test.each([
  '{"constructor":"a builder","prototype":{"a":1}}',
  '{"a":"__proto__","b":["constructor"],"c":{"constructor":{"name":"prototype"}}}',
  '\ufeff{"a":"behind a byte order mark"}',
])('%s reaches none and is read', async (body) => {
  const { post } = await start();
  expect((await post(body)).got).toEqual(JSON.parse(body.replace('\ufeff', '')));
});

test.each(['{"user_id":"José"}', '{"user_id":"Josà"}'])(
  '%s is refused in another encoding than UTF-8',
  async (body) => {
    const { post, asked } = await start();
    expect(await post(Buffer.from(body, 'latin1'))).toMatchObject({ status: 400, code: 'invalid_json' });
    expect(asked.times).toBe(0);
    expect((await post(body)).got).toEqual(JSON.parse(body));
  },
);

test.each(['{"a":"', '{"a":"\\', '{"a":"\\"', '"', '}', ']]]]', ',', '{"a":1', 'nothing'])(
  '%s is refused as what it is: no JSON',
  async (body) => {
    const { post } = await start();
    expect(await post(body)).toMatchObject({ status: 400, code: 'invalid_json' });
  },
);
