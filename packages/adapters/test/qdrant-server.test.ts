import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_TENANT, type SearchIndex } from '@slowwave/engine';
import { indexPoint, indexQuery, recordingLog, SUITE_SPACE } from '@slowwave/engine-testing';
import { freePort } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openQdrantIndex } from '../src/qdrant/open.ts';

/** What a server would answer. */
interface Answer {
  readonly status?: number;
  readonly error?: string;
  readonly result?: unknown;
  readonly version?: string | undefined;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

describe('the index and a Qdrant server in trouble', () => {
  let server: Server;
  let calls: Call[];
  /** Answers first, in order; then the server is well. */
  let troubles: Answer[];
  let version: string | undefined;
  /** Whether its answers are empty, as a proxy's may be. */
  let silent: boolean;

  beforeEach(async () => {
    [calls, troubles, version, silent] = [[], [], '1.18.3', false];
    server = createServer(async (request, response) => {
      const call = await callOf(request);
      calls.push(call);
      const { status = 200, error, ...answer } = troubles.shift() ?? well(call, { version, calls });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(silent ? '' : JSON.stringify(error === undefined ? answer : { status: { error } }));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  const url = (path = ''): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const log = recordingLog();
  const open = (given: { url?: string; apiKey?: string } = {}): Promise<SearchIndex> =>
    openQdrantIndex({ url: url(), apiKey: null, log, ...SUITE_SPACE, ...given });

  test('a server that is busy is asked again, until it does its work', async () => {
    const index = await open();
    troubles = [
      { status: 503, error: 'Shard temporarily unavailable' },
      { status: 429, error: 'Rate limiting exceeded' },
      { status: 500, error: 'Service internal error' },
    ];
    expect(await index.count(DEFAULT_TENANT)).toBe(7);
  });

  test('a server that stays busy is an error for later', async () => {
    const index = await open();
    troubles = Array.from({ length: 4 }, () => ({ status: 503, error: 'starting' }));
    await expect(index.count(DEFAULT_TENANT)).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: true,
      message: expect.stringMatching(/got HTTP 503: starting/),
    });
  });

  test('a server that is not there is an error that says where it was looked for', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    await expect(open({ url: nobody })).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: true,
      message: expect.stringMatching(
        /expected Qdrant at http:\/\/127\.0\.0\.1:\d+ to answer, got: ECONNREFUSED.*check/,
      ),
    });
  });

  test('a server that is too old, or no Qdrant at all, is refused', async () => {
    version = '1.17.9';
    await expect(open()).rejects.toMatchObject({
      retryable: false,
      message: expect.stringMatching(/expected Qdrant 1\.18 or newer at http.*, got 1\.17\.9; upgrade/),
    });
    version = undefined;
    await expect(open()).rejects.toThrow('got a server that reports no version');
  });

  test('an answer that is none of Qdrant is an error for later', async () => {
    const index = await open();
    silent = true;
    await expect(index.count(DEFAULT_TENANT)).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: true,
      message: expect.stringContaining('an answer that is not JSON'),
    });
  });

  test.each([401, 403])('a key that is refused with %i is an error that says so, at once', async (status) => {
    troubles = [{ status, error: 'Invalid API key or JWT' }];
    await expect(open({ apiKey: 'wrong' })).rejects.toMatchObject({
      retryable: false,
      message: expect.stringMatching(/to accept the key.*correct QDRANT_API_KEY/),
    });
    expect(calls).toHaveLength(1);
  });

  test.each([
    {
      trouble: { status: 404, error: "Not found: Collection `slowwave` doesn't exist!" },
      expected: { retryable: true, message: /expected the index on Qdrant.*restart the worker/ },
    },
    {
      trouble: { status: 400, error: 'Wrong input: Not existing vector name error: dense_x' },
      expected: { retryable: true, message: /of another model.*rebuild it/ },
    },
    {
      trouble: { status: 400, error: 'Wrong input: Vector dimension error: expected dim: 3, got 4' },
      expected: { retryable: false, message: /dimensions.*rebuild the index/ },
    },
    {
      trouble: { status: 400, error: 'Bad request: Index required but not found for "owner"' },
      expected: { retryable: false, message: /to be indexed.*creates missing indexes/ },
    },
    {
      trouble: { status: 400, error: 'Wrong input: something else' },
      expected: { retryable: false, message: /got HTTP 400: Wrong input: something else/ },
    },
  ])('$trouble.error is said in the words of the product', async ({ trouble, expected }) => {
    const index = await open();
    troubles = [trouble];
    await expect(index.search([indexQuery()])).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: expected.retryable,
      message: expect.stringMatching(expected.message),
    });
  });

  test('the path of the URL and the key are sent with every call', async () => {
    await open({ url: url('/qdrant/'), apiKey: 'secret' });
    expect(calls.every(({ path }) => path.startsWith('/qdrant/'))).toBe(true);
    expect(calls.every(({ key }) => key === 'secret')).toBe(true);
  });

  test('below 1.19 it is said once that words are counted across all tenants', async () => {
    const said = () => log.lines.filter(({ message }) => message.includes('across all tenants')).length;
    const before = said();
    const index = await open();
    await index.search([indexQuery({ vector: null, terms: ['tea'] })]);
    expect(said() - before).toBe(1);
    expect(calls.at(-1)?.body).toMatchObject({ searches: [{ params: {} }] });
  });

  test('from 1.19 on words are counted over the tenant alone', async () => {
    version = '1.19.0';
    const index = await open();
    await index.search([indexQuery({ vector: null, terms: ['tea'] })]);
    const params = { idf: { corpus: { must: [{ key: 'tenant' }] } } };
    expect(calls.at(-1)?.body).toMatchObject({ searches: [{ params }] });
  });

  test('every leg of a question is filtered by its owner', async () => {
    const index = await open();
    await index.search([indexQuery({ terms: ['tea'] })]);
    const owned = { filter: { must: expect.arrayContaining([expect.objectContaining({ key: 'owner' })]) } };
    expect(calls.at(-1)?.body).toMatchObject({ searches: [owned, owned] });
  });

  test('a write is waited for, and only replaces what is not newer, or older where it was withdrawn', async () => {
    const index = await open();
    await index.upsert([indexPoint({ memoryId: 'm', revision: 4 })]);
    expect(calls.at(-1)?.path).toContain('wait=true');
    const isThere = { must_not: [{ is_empty: { key: 'tenant' } }] };
    const isThereOrOlder = { should: [isThere, { key: 'revision', range: { lt: 4 } }] };
    const notNewer = [{ has_id: [expect.any(String)] }, { key: 'revision', range: { lte: 4 } }];
    expect(calls.at(-1)?.body).toMatchObject({ update_filter: { should: [{ must: [...notNewer, isThereOrOlder] }] } });
  });
});

async function callOf(request: IncomingMessage): Promise<Call> {
  let text = '';
  for await (const part of request) text += part;
  const key = request.headers['api-key'];
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    key: typeof key === 'string' ? key : undefined,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** As much of a server as opening, counting, searching and writing needs. */
function well(
  { path, body }: Call,
  { version, calls }: { version: string | undefined; calls: readonly Call[] },
): Answer {
  if (path.endsWith('/')) return { version };
  if (path.endsWith('/exists')) return { result: { exists: false } };
  if (path.endsWith('/aliases')) return { result: { aliases: [] } };
  if (path.endsWith('/count')) return { result: { count: 7 } };
  if (path.endsWith('/query/batch')) {
    return { result: (body as { searches: unknown[] }).searches.map(() => ({ points: [] })) };
  }
  const made = calls
    .map((call) => call.body as { vectors?: object } | null)
    .findLast((made) => made?.vectors !== undefined);
  return { result: { config: { params: { vectors: made?.vectors } }, payload_schema: {} } };
}
