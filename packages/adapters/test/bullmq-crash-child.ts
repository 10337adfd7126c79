import { recordingLog } from '@slowwave/engine-testing';
import { redisConnection, startTurnWorker } from '../src/bullmq/index.ts';

/** Takes turns and never ends one: until it is killed, or, told so, with nothing else getting a moment to run. */
const [url = '', takeOver = '', how = 'waits'] = process.argv.slice(2);

startTurnWorker({
  connection: redisConnection(url),
  concurrency: 1,
  takeOverMs: Number(takeOver),
  log: recordingLog(),
  handler: async ({ lane }) => {
    process.stdout.write(`took ${lane}\n`);
    if (how === 'waits') return new Promise(() => {});
    // Two steps, each shorter than what a lock outlives, together longer.
    for (let step = 0; step < 2; step += 1) {
      await new Promise((resolve) => setTimeout(resolve, Number(takeOver) / 2));
      for (const until = Date.now() + Number(takeOver) / 2; Date.now() < until; );
    }
    process.stdout.write(`done ${lane}\n`);
    return { kind: 'done', next: null };
  },
});
