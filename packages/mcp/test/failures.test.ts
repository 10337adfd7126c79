import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createSlowwave } from '@slowwave/sdk';
import { tryTo } from '@slowwave/testkit/mcp';
import { afterEach, expect, test } from 'vitest';
import { memoryServer } from '../src/server.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A client of the tools over a server that answers like this, and what was reported meanwhile. */
async function over(listener: RequestListener): Promise<{ client: Client; server: Server; reported: unknown[] }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reported: unknown[] = [];
  const slowwave = createSlowwave({ url: `http://127.0.0.1:${port}`, retries: 0 });
  const connection = {
    slowwave,
    fixed: async () => ({ user_id: 'ana' }),
    report: (error: unknown) => reported.push(error),
  };
  const client = new Client({ name: 'test', version: '1' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await memoryServer(connection).connect(theirs);
  await client.connect(ours);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { client, server, reported };
}

test('a call that is given up ends what it asked, and is no failure', async () => {
  const left = Promise.withResolvers<void>();
  const { client, server, reported } = await over((_request, response) => {
    response.once('close', left.resolve);
  });
  const giveUp = new AbortController();
  const asked = once(server, 'request');
  const call = client.callTool({ name: 'get_memories', arguments: {} }, { signal: giveUp.signal });
  await asked;
  giveUp.abort();
  await expect(call).rejects.toThrow();
  await left.promise;
  expect(reported).toEqual([]);
});

test('an answer that nobody expects is reported, and not shown to the model', async () => {
  const { client, reported } = await over((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret": "of the server"}');
  });
  const { isError, text } = await tryTo(client, 'get_memories');
  expect([isError, text]).toEqual([true, expect.stringContaining('check the log')]);
  expect(reported).toHaveLength(1);
});

test('a server that is down is a sentence for the model', async () => {
  const { client, server, reported } = await over(() => {});
  server.close();
  await once(server, 'close');
  expect((await tryTo(client, 'get_memories')).text).toContain('could not reach it');
  expect(reported).toEqual([]);
});
