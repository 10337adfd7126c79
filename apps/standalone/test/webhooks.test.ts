import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { done, get, post, quiet, said } from './client.ts';
import { standalone } from './setups.ts';

const WITHIN_MS = 60_000;
const SECRET = 'a-secret-both-of-us-know';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** A receiver as users have one. */
async function receiver() {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
      received.push({ headers: request.headers, text: Buffer.concat(pieces).toString() });
      response.writeHead(204).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received, close: () => server.close() };
}

function isSigned({ headers, text }: Received): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-slowwave-signature'])) ?? [];
  return v1 === createHmac('sha256', SECRET).update(`${t}.${text}`).digest('hex');
}

it(
  'a receiver is told what happens, signed, and again under the same id where a replay is asked for',
  async () => {
    const there = await receiver();
    const setup = await standalone({ SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1' });
    try {
      const events = ['batch.consolidated', 'memory.added'];
      const hook = { url: there.url, events, secret: SECRET };
      const made = await post(`${setup.console}/v1/webhooks`, hook);
      expect(made.status).toBe(201);
      expect((await post(`${setup.console}/v1/webhooks`, { ...hook, url: 'http://127.0.0.2/' })).status).toBe(400);
      const batch = await post(`${setup.ingest}/v1/batches`, said('ann', 'I live in Oslo.'));
      await quiet(setup.search);
      await expect.poll(() => there.received.length, { timeout: WITHIN_MS }).toBe(2);
      expect(there.received.every(isSigned)).toBe(true);
      const bodies = there.received.map(({ text }) => JSON.parse(text));
      const told = bodies.find(({ type }) => type === 'memory.added');
      expect(told.data).toMatchObject({ before: null, after: expect.stringContaining('Oslo'), user_id: 'ann' });
      const ended = bodies.find(({ type }) => type === 'batch.consolidated');
      expect(ended.data).toMatchObject({ batch_id: batch.body.batch_id, state: 'consolidated' });
      const log = () => get(`${setup.console}/v1/webhooks/${made.body.id}/deliveries?state=delivered`);
      await expect.poll(async () => (await log()).body.results.length, { timeout: WITHIN_MS }).toBe(2);
      await done(post(`${setup.console}/v1/webhooks/${made.body.id}/deliveries/${told.delivery_id}/replay`, undefined));
      await expect.poll(() => there.received.length, { timeout: WITHIN_MS }).toBe(3);
      expect(there.received[2]?.headers['x-slowwave-delivery']).toBe(told.delivery_id);
    } finally {
      await setup.close();
      there.close();
    }
  },
  WITHIN_MS * 2,
);
