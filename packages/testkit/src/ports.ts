import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Where ports are looked for: below those that systems give to connections on their way out (from 32,768 on Linux, from
 * 49,152 elsewhere). One of those may be taken between being found and being listened on.
 */
const FROM = 15_000;
const UNTIL = 32_000;
/** More than there are tests at once on most machines. */
const SHARES = 32;
const PORTS_OF_A_SHARE = Math.floor((UNTIL - FROM) / SHARES);
const TRIES = 100;

/** Found in this process before: whoever asked may not listen yet. */
const given = new Set<number>();

/**
 * A TCP port of the loopback interface that nobody listens on at the moment. Each worker of a test run has ports of its own: one that
 * is found by two before either listens, or while a server that had it starts again, would fail one test in thousands. Drawn
 * at random, as other test runs look for one, too.
 */
export async function freePort(): Promise<number> {
  // biome-ignore lint/style/noProcessEnv: set by the test runner
  const from = FROM + (Number(process.env.VITEST_POOL_ID ?? 0) % SHARES) * PORTS_OF_A_SHARE;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const port = randomInt(from, from + PORTS_OF_A_SHARE);
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
