import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepLocks, postgresConnection, redisConnection, startTurnWorker } from '../src/bullmq/index.ts';
import { createLog } from '../src/pino.ts';

flushCompileCache(); // tests kill it, and then nothing would be kept: the next start would take twice as long

/** Takes turns and does with them what it is told, as a worker of a process of its own. */
const [url = '', takeOver = '', how = 'waits'] = process.argv.slice(2);
const lockMs = Number(takeOver);
const log = createLog({ level: 'warn', name: 'child' }); // for whoever reads why a test failed
const connection = url.startsWith('redis') ? redisConnection(url) : postgresConnection({ url, log });
const { lockServer: server } = connection;
if (server === null) throw new Error('expected a queue that processes share');

const say = (what: string): void => void process.stdout.write(`${what}\n`);

startTurnWorker({
  connection,
  concurrency: 1,
  takeOverMs: lockMs,
  locks: await keepLocks({ server, lockMs, log }),
  log,
  handler: async ({ lane }, signal) => {
    say(`took ${lane}`);
    if (how === 'waits') {
      signal.addEventListener('abort', () => say(`lost ${lane}`));
      return new Promise(() => {});
    }
    await sleep(0); // so that it is known what runs
    // A single step in which nothing else of this thread runs: far longer than a lock lasts, or for ever.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, how === 'hangs' ? Infinity : 2 * lockMs);
    say(`done ${lane}`);
    return { kind: 'done', next: null };
  },
});
