import { appendFileSync } from 'node:fs';
import { Socket, type SocketConnectOpts } from 'node:net';

/** Loaded before a program: writes down where it connects to, a line each. */
// biome-ignore lint/style/noProcessEnv: told to a program that knows nothing of it.
const file = process.env.CONNECTIONS_FILE;
const { connect } = Socket.prototype;

function recorded(this: Socket, ...given: unknown[]): Socket {
  const [first] = (Array.isArray(given[0]) ? given[0] : given) as [SocketConnectOpts];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(first)}\n`);
  return Reflect.apply(connect, this, given) as Socket;
}

Socket.prototype.connect = recorded as typeof connect;
