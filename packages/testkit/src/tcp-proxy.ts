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
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    silence: (passing) => {
      for (const line of lines) line.passing = passing;
    },
    silenceNew: (passing) => {
      forNew = passing;
    },
    silenced: () => [...lines].filter(({ passing }) => passing !== 'all').length,
    close: async () => {
      for (const { near, far } of lines) {
        near.destroy();
        far.destroy();
      }
      server.close();
      await once(server, 'close');
    },
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
  // A silent connection tells neither side of the other's end.
  near.on('close', () => far.destroy());
  far.on('close', () => {
    if (line.passing === 'all') near.destroy();
  });
  for (const socket of [near, far]) socket.on('error', () => {});
}
