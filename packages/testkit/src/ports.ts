import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Where ports are looked for: below those that systems give to connections on their way out (from 32,768 on Linux, from
 * 49,152 elsewhere). One of those may be taken between being found and being listened on.
 */
const FROM = 15_000;
const UNTIL = 32_000;
const TRIES = 100;

/** Found in this process before: whoever asked may not listen yet. */
const given = new Set<number>();

/** A TCP port of the loopback interface that nobody listens on at the moment, drawn at random: others look for one, too. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = randomInt(FROM, UNTIL);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`expected a free port between ${FROM} and ${UNTIL}, found none in ${TRIES} tries`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
