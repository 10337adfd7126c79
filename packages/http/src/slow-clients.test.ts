import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from './shell.ts';
import { testShell } from './testing.ts';

/** Long enough that a process that stalls for a while takes nobody else for slow. */
const PATIENT = { headersMs: 20_000, requestMs: 20_000, checkedMs: 1_000 };
const HASTY = { headersMs: 200, requestMs: 400, checkedMs: 50 };
const LETTER_EVERY_MS = 50;

let hasty: Server;
let patient: Server;
beforeAll(async () => {
  [hasty, patient] = (await Promise.all([HASTY, PATIENT].map(listening))) as [Server, Server];
});
afterAll(() => Promise.all([hasty, patient].map(({ app }) => app.close())));

interface Server {
  readonly app: App;
  readonly port: number;
  /** The server's end of each connection, by the port of the client's. */
  readonly ends: ReadonlyMap<number | undefined, Socket>;
}

async function listening(arrival: typeof HASTY): Promise<Server> {
  const { app } = await testShell({ arrival });
  app.post('/v1/notes', async () => ({ ok: true }));
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  const ends = new Map<number | undefined, Socket>();
  app.server.on('connection', (end: Socket) => ends.set(end.remotePort, end));
  return { app, port, ends };
}

/** Sends the beginning, then a letter every now and then, until the other side has had enough. Answers with its last words. */
async function trickle({ port, ends }: Server, beginning: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let told = '';
  socket.on('data', (data) => {
    told += data.toString();
  });
  socket.on('error', () => {}); // cut off while writing: that is what is looked for
  socket.write(beginning);
  // A letter for an end that is closed would be answered with a reset, which takes its last words away.
  const drip = setInterval(() => {
    if (ends.get(socket.localPort)?.writable !== false) socket.write('a');
  }, LETTER_EVERY_MS);
  await once(socket, 'close');
  clearInterval(drip);
  return told;
}

const HEADERS = 'POST /v1/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

test('whose headers trickle is cut off', async () => {
  expect(await trickle(hasty, `${HEADERS}X-Slow: `)).toMatch(/^HTTP\/1\.1 408 /);
});

test('whose body trickles is cut off', async () => {
  expect(await trickle(hasty, `${HEADERS}Content-Length: 9000\r\n\r\n"`)).toMatch(/^HTTP\/1\.1 408 /);
});

test('whose headers are larger than anybody needs is refused', async () => {
  expect(await trickle(patient, `${HEADERS}X-Large: ${'a'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
});

test('others are answered meanwhile', async () => {
  const slow = connect(patient.port, '127.0.0.1');
  slow.write(`${HEADERS}X-Slow: `);
  const answer = await fetch(`http://127.0.0.1:${patient.port}/v1/notes`, { method: 'POST' });
  expect(answer.status).toBe(200);
  expect(slow.destroyed).toBe(false);
  slow.destroy();
});
