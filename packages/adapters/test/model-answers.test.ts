import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { type ChatCall, embedAll, type Log } from '@slowwave/engine';
import { afterEach, describe, expect, test } from 'vitest';
import { openaiChat, openaiEmbedder } from '../src/openai/index.ts';
import { endpointReranker } from '../src/rerank.ts';

const CALL: ChatCall = { name: 'extract_facts', system: 'Find.', user: '{}', schema: { type: 'object' } };
const NEVER = new AbortController().signal;
const QUIET: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const MiB = 1024 * 1024;
const LIMIT = 4 * MiB;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A server that answers everything so; its address. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const options = (baseUrl: string) => ({ apiKey: 'key', baseUrl, model: 'm', timeoutMs: 30_000, log: QUIET });

/** The ways in which a model's server is asked. */
const ASKING: readonly (readonly [string, (baseUrl: string) => Promise<unknown>])[] = [
  ['a chat model', async (baseUrl) => openaiChat(options(baseUrl)).ask(CALL, NEVER)],
  [
    'an embedder',
    async (baseUrl) => (await openaiEmbedder({ ...options(baseUrl), dimensions: 16 })).embed(['tea'], NEVER),
  ],
  ['an embedder at its start', (baseUrl) => openaiEmbedder({ ...options(baseUrl), dimensions: null })],
  [
    'a reranker',
    (url) => endpointReranker({ ...options(url), url }).rerank({ query: 'tea', documents: ['she likes tea'] }, NEVER),
  ],
];

/** The beginning of a body that goes on for ever; how much of it the other side has taken. */
function endless(): { readonly answer: RequestListener; readonly taken: Promise<number> } {
  const { promise, resolve } = Promise.withResolvers<number>();
  const chunk = Buffer.alloc(64 * 1024, ' ');
  return {
    taken: promise,
    answer: (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more).on('close', () => resolve(response.socket?.bytesWritten ?? 0));
      more();
    },
  };
}

describe.each(ASKING)('the answer to %s', (_who, ask) => {
  test('that never ends is cut off at the limit, and the connection with it', async () => {
    const { answer, taken } = endless();
    const url = await serve(answer);
    await expect(ask(url)).rejects.toMatchObject({ code: 'model_output_unusable', retryable: true });
    // What lies in the buffers of both sides comes on top.
    expect(await taken).toBeLessThan(4 * LIMIT);
  });

  test('that unpacks to more than the limit is cut off too', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      const packed = createGzip({ level: 9 });
      packed.pipe(response).on('error', () => {});
      for (let i = 0; i < 40; i += 1) packed.write(Buffer.alloc(MiB, ' '));
      packed.end('{}');
    });
    await expect(ask(url)).rejects.toMatchObject({
      code: 'model_output_unusable',
      message: expect.stringContaining(`at most ${LIMIT} bytes`),
    });
  });

  test.each([301, 302, 303, 307, 308])('that is a redirect (%i) is not followed', async (status) => {
    let asked = 0;
    const trap = await serve((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    const url = await serve((_request, response) => response.writeHead(status, { location: trap }).end('moved'));
    await expect(ask(url)).rejects.toMatchObject({
      code: 'model_misconfigured',
      message: expect.stringMatching(/redirect.*not followed/u),
    });
    expect(asked).toBe(0);
  });

  test('that refuses at length is judged by its status and its first words', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(503, { 'content-type': 'text/plain' });
      response.end(`Out of order. ${'x'.repeat(2 * LIMIT)}`);
    });
    await expect(ask(url)).rejects.toMatchObject({ code: 'model_server_error' });
  });
});

test('vectors for many texts may take more than one answer of a chat model may', async () => {
  const dimensions = 4_096;
  const texts = Array.from({ length: 112 }, (_, i) => `text ${i}`);
  const embedding = Array.from({ length: dimensions }, (_, i) => -0.012345678901234567 * (i + 1));
  const bytes: number[] = [];
  const url = await serve(async (request, response) => {
    const { input } = (await json(request)) as { input: readonly string[] };
    const body = JSON.stringify({ data: input.map((_, index) => ({ index, embedding })) });
    bytes.push(body.length);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const embedder = await openaiEmbedder({ ...options(url), dimensions });
  expect(await embedAll(embedder, texts, NEVER)).toHaveLength(texts.length);
  expect(Math.max(...bytes)).toBeGreaterThan(LIMIT);
});
