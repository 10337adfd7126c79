import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './ports.ts';

/** What becomes of what is sent on connections: all of it passes, only what is asked passes, or nothing does. */
type Passing = 'all' | 'questions' | 'nothing';

/** A TCP proxy on loopback whose connections can fall silent: bytes are taken, and nobody hears of their loss. */
export interface TcpProxy {
  readonly port: number;
  /** From now on, for the connections there are. They stay so for good, as with a router that forgot them. */
  silence(passing: Exclude<Passing, 'all'>): void;
  /** The same for connections that are made from now on, until it is all again. */
  silenceNew(passing: Passing): void;
  /** As if the server were away: connections end and none is taken, until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Connections there are, of those that were silenced. */
  silenced(): number;
  close(): Promise<void>;
}

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  passing: Passing;
}

/** Starts a proxy to a port of loopback. */
export async function startTcpProxy({ to }: { readonly to: number }): Promise<TcpProxy> {
  const port = await freePort();
  const lines = new Set<Line>();
  let forNew: Passing = 'all';
  const server = createServer((near) => {
    const line: Line = { near, far: connect(to, '127.0.0.1'), passing: forNew };
    lines.add(line);
    carry(line);
    near.once('close', () => lines.delete(line));
  });
  const accept = async (): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const { near, far } of lines) {
      near.destroy();
      far.destroy();
    }
    await closed;
  };
  await accept();
  return {
    port,
    silence: (passing) => {
      for (const line of lines) line.passing = passing;
    },
    silenceNew: (passing) => {
      forNew = passing;
    },
    silenced: () => [...lines].filter(({ passing }) => passing !== 'all').length,
    refuse,
    accept,
    close: refuse,
  };
}

function carry(line: Line): void {
  const { near, far } = line;
  near.on('data', (bytes) => {
    if (line.passing !== 'nothing') far.write(bytes);
  });
  far.on('data', (bytes) => {
    if (line.passing === 'all') near.write(bytes);
  });
  // A silent connection shows neither side the other's end.
  near.on('close', () => far.destroy());
  far.on('close', () => {
    if (line.passing === 'all') near.destroy();
  });
  for (const socket of [near, far]) socket.on('error', () => {});
}
