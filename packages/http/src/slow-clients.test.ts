import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testShell } from './testing.ts';
import type { App } from './types.ts';

let app: App;
let port = 0;
beforeAll(async () => {
  ({ app } = await testShell({ arrival: { headersMs: 200, requestMs: 400, checkedMs: 50 } }));
  app.post('/v1/notes', async () => ({ ok: true }));
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => app.close());

/** Sends the beginning, then a letter every now and then, until the other side has had enough. Answers with its last words. */
function trickle(beginning: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let told = '';
    const drip = setInterval(() => socket.write('a'), 50);
    socket.on('data', (data) => {
      told += data.toString();
    });
    socket.on('error', () => {}); // cut off while writing: that is what is looked for
    socket.on('close', () => {
      clearInterval(drip);
      resolve(told);
    });
    socket.write(beginning);
  });
}

const HEADERS = 'POST /v1/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

test('whose headers trickle is cut off', async () => {
  expect(await trickle(`${HEADERS}X-Slow: `)).toMatch(/^HTTP\/1\.1 408 /);
});

test('whose body trickles is cut off', async () => {
  expect(await trickle(`${HEADERS}Content-Length: 9000\r\n\r\n"`)).toMatch(/^HTTP\/1\.1 408 /);
});

test('whose headers are larger than anybody needs is refused', async () => {
  expect(await trickle(`${HEADERS}X-Large: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
});

test('others are answered meanwhile', async () => {
  const slow = trickle(`${HEADERS}X-Slow: `);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/notes`, { method: 'POST' });
  expect(answer.status).toBe(200);
  await slow;
});
