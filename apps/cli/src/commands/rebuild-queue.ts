import type { QueueRebuilt } from '@slowwave/engine';
import type { Call, Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withStores } from '../stores.ts';

export const rebuildQueueCommand: Command = {
  name: 'rebuild queue',
  usage: '',
  words: [0, 0],
  on: 'stores',
  summary: 'Rebuild the queue from the ledger.',
  about: `Works on the stores that the settings name, while servers run, and changes nothing of
what the queue has already. Workers do the same by themselves for lanes that are due, once
a second. A queue in process (neither REDIS_URL nor DATABASE_URL) needs nothing: it is
filled from the ledger whenever its server starts.`,
  options: {},
  run: async (call) => {
    const { config, out } = call;
    if (config.redisUrl === null && config.databaseUrl === null) {
      const note = 'the queue is in the standalone server, which fills it from the ledger; there is nothing to rebuild';
      out.answer({ lanes: null, scheduled: 0, note }, note);
      return EXIT.done;
    }
    const { lanes, scheduled } = await rebuild(call);
    out.answer(
      { lanes, scheduled },
      `${lanes} lanes have work; the queue did not know of ${scheduled} of their turns.`,
    );
    return EXIT.done;
  },
};

const rebuild = ({ config, out }: Call): Promise<QueueRebuilt> =>
  withStores(config, async (stores) => {
    const { rebuildQueue } = await import('@slowwave/engine');
    const { openQueue } = await import('@slowwave/adapters/assemble');
    const { openSchedule } = await import('@slowwave/adapters/bullmq');
    const connection = await openQueue(config, stores.log);
    const schedule = await openSchedule({ connection, log: stores.log });
    const progress = out.progress({ title: 'rebuild queue', unit: 'lanes' });
    try {
      return await rebuildQueue(stores, schedule, ({ lanes }) => progress.update(lanes, lanes));
    } finally {
      progress.stop();
      await schedule.close();
      await connection.close();
    }
  });
