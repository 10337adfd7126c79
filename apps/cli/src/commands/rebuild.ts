import type { Finding, QueueRebuilt, RebuildProgress, Rebuilt } from '@slowwave/engine';
import type { Call, Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Progress } from '../output.ts';
import { type Stores, withStores } from '../stores.ts';

export const rebuildIndexCommand: Command = {
  name: 'rebuild index',
  usage: '',
  words: [0, 0],
  on: 'stores',
  summary: 'Rebuild the index from the ledger, next to the one in use.',
  about: `Works on the stores that the settings name, while servers run: searches use the old
index until the new one is complete. Stopped anywhere and started again, it goes on.
In the end it is compared with the ledger; it ends with 3 if they differ.

After a change of the embedding model run it with the new settings, then restart all
servers with them.`,
  options: {
    'no-verify': { value: null, about: 'Do not compare the new index with the ledger at the end.' },
    'keep-old': { value: null, about: 'Qdrant: do not delete the collection that was used before.' },
  },
  run: (call) =>
    withStores(call.config, async (stores) => {
      const began = performance.now();
      const { memories, points, byWords, resumed } = await rebuildIndex(call, stores);
      const findings = call.given.flag('no-verify') ? [] : await verify(call, stores);
      const ms = Math.round(performance.now() - began);
      const went = resumed ? ' It went on where an earlier try had stopped.' : '';
      const text = `The index is built anew: ${memories} memories in ${(ms / 1_000).toFixed(1)} s.${went}`;
      const left = byWords > 0 ? `\n${LEFT.replace('N', String(byWords))}` : '';
      const differs = findings.map(({ what }) => `\nIt differs from the ledger: ${what}. Run it again.`).join('');
      call.out.answer({ memories, points, by_words: byWords, resumed, ms, findings }, text + left + differs);
      return findings.length === 0 ? EXIT.done : EXIT.findings;
    }),
};

const LEFT =
  'N owners are found by their words for now: the embedding model failed on some of their texts. A running worker embeds them.';

async function rebuildIndex({ config, out, cancel, given }: Call, { ledger, embedder, log }: Stores): Promise<Rebuilt> {
  const { rebuildOwnIndex } = await import('@slowwave/adapters/assemble');
  const progress = out.progress({ title: 'rebuild index', unit: 'memories' });
  try {
    const total = await ledger.audit.memories();
    const how = { cancel, onProgress: shown(progress, total), keepOld: given.flag('keep-old') };
    return await rebuildOwnIndex(config, { ledger, embedder, log }, how);
  } finally {
    progress.stop();
  }
}

/** What is different between the new index and the ledger. */
async function verify({ out, cancel }: Call, stores: Stores): Promise<readonly Finding[]> {
  const progress = out.progress({ title: 'verify', unit: 'points' });
  const onProgress = (_check: string, done: number, total: number): void => progress.update(done, total);
  try {
    const { examine } = await import('@slowwave/engine');
    const how = { depth: 'full', only: ['index'], cancel, onProgress } as const;
    return (await examine({ ...stores, index: await stores.index() }, how)).findings;
  } finally {
    progress.stop();
  }
}

/** Memories that come meanwhile may be more than there were. */
const shown =
  (progress: Progress, total: number) =>
  ({ pass, memories }: RebuildProgress): void =>
    progress.update(memories, Math.max(total, memories), pass === 'all' ? '' : pass);

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
    const { lanes, scheduled } = await rebuildQueue(call);
    out.answer(
      { lanes, scheduled },
      `${lanes} lanes have work; the queue did not know of ${scheduled} of their turns.`,
    );
    return EXIT.done;
  },
};

const rebuildQueue = ({ config, out }: Call): Promise<QueueRebuilt> =>
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
