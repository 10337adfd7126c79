import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startTcpProxy } from './tcp-proxy.ts';

/** A server that says everything again, behind a proxy. */
async function open() {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startTcpProxy({ to: (server.address() as AddressInfo).port });
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await proxy.close();
    server.close();
  });
  const dial = (): Socket => {
    const socket = connect(proxy.port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  return { proxy, dial };
}

async function echoed(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [data] = await once(socket, 'data');
  return String(data);
}

test('connections that were there carry nothing any more and stay open, others work', async () => {
  const { proxy, dial } = await open();
  const old = dial();
  expect(await echoed(old, 'before')).toBe('before');
  proxy.silence('nothing');
  expect(proxy.silenced()).toBe(1);
  const heard: string[] = [];
  old.on('data', (data) => heard.push(String(data)));
  old.write('lost');
  const later = dial();
  expect(await echoed(later, 'after')).toBe('after');
  expect({ heard, open: old.writable }).toEqual({ heard: [], open: true });
});

test('who asks while it takes nobody is refused, and served again afterwards', async () => {
  const { proxy, dial } = await open();
  const old = dial();
  await echoed(old, 'before');
  await proxy.refuse();
  if (!old.closed) await once(old, 'close');
  const [refusal] = await once(dial(), 'error');
  expect(refusal).toMatchObject({ code: 'ECONNREFUSED' });
  await proxy.accept();
  expect(await echoed(dial(), 'after')).toBe('after');
});
