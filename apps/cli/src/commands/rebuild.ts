import type { Embedder, Finding, QueueRebuilt, Rebuilt } from '@slowwave/engine';
import type { Call, Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { tracked } from '../output.ts';
import { type Stores, withStores } from '../stores.ts';
import { embedderLoaded } from './embedder.ts';

export const rebuildIndexCommand: Command = {
  name: 'rebuild index',
  on: 'stores',
  summary: 'Rebuild the index from the ledger, next to the one in use.',
  about: `Works directly on the configured stores, while servers run: searches use the old index until
the new one is complete. If it is stopped, the next run continues from there. Finally the
new index is compared with the ledger; the exit code is 3 if they differ. To change the
embedding model, use slowwave index move.`,
  options: {
    'no-verify': { value: null, about: 'Do not compare the new index with the ledger at the end.' },
    'keep-old': { value: null, about: 'Qdrant: do not delete the collection that was used before.' },
  },
  run: (call) =>
    withStores(call.config, async (stores) => {
      const { documents: embedder, ready } = await stores.embedder();
      await embedderLoaded(call.out, ready);
      const began = performance.now();
      const { memories, points, byWords, resumed } = await rebuildIndex(call, { ...stores, embedder });
      const findings = call.given.flag('no-verify') ? [] : await verify(call, stores);
      const ms = Math.round(performance.now() - began);
      const went = resumed ? ' It continued an earlier run.' : '';
      const text = `Rebuilt the index: ${memories} memories in ${(ms / 1_000).toFixed(1)} s.${went}`;
      const left = byWords > 0 ? `\n${byWords} ${ONLY_WORDS}` : '';
      const differs = findings.map(({ what }) => `\nIt differs from the ledger: ${what}. Run it again.`).join('');
      return {
        value: { memories, points, by_words: byWords, resumed, ms, findings },
        text: text + left + differs,
        exit: findings.length === 0 ? EXIT.done : EXIT.findings,
      };
    }),
};

const ONLY_WORDS =
  'owners can only be found by keywords for now: the embedding model failed on some of their texts. A running worker ' +
  'embeds them.';

const rebuildIndex = (
  { config, out, cancel, given }: Call,
  { ledger, embedder, log }: Pick<Stores, 'ledger' | 'log'> & { readonly embedder: Embedder },
): Promise<Rebuilt> =>
  tracked(out, { title: 'rebuild index', unit: 'memories' }, async ({ update }) => {
    const { rebuildOwnIndex } = await import('@slowwave/adapters/assemble');
    const total = await ledger.audit.memories();
    return rebuildOwnIndex(
      config,
      { ledger, embedder, log },
      {
        cancel,
        keepOld: given.flag('keep-old'),
        // New memories may arrive meanwhile.
        onProgress: ({ pass, memories }) => update(memories, Math.max(total, memories), pass === 'all' ? '' : pass),
      },
    );
  });

/** The differences between the new index and the ledger. */
const verify = ({ out, cancel }: Call, stores: Stores): Promise<readonly Finding[]> =>
  tracked(out, { title: 'verify', unit: 'points' }, async ({ update }) => {
    const { examine } = await import('@slowwave/engine');
    const onProgress = (_check: string, done: number, total: number): void => update(done, total);
    const how = { depth: 'full', only: ['index'], cancel, onProgress } as const;
    return (await examine({ ...stores, ...(await stores.space()) }, how)).findings;
  });

export const rebuildQueueCommand: Command = {
  name: 'rebuild queue',
  on: 'stores',
  summary: 'Rebuild the queue from the ledger.',
  about: `Works directly on the configured stores, while servers run, and only adds what the queue lacks.
Workers do the same once a second for lanes that are due. An in-process queue (neither
REDIS_URL nor DATABASE_URL) does not need it: its server fills it from the ledger at every start.`,
  run: async (call) => {
    const { config } = call;
    if (config.redisUrl === null && config.databaseUrl === null) {
      const note = 'the queue is in the standalone server, which fills it from the ledger; there is nothing to rebuild';
      return { value: { lanes: null, scheduled: 0, note }, text: note };
    }
    const { lanes, scheduled } = await rebuildQueue(call);
    return {
      value: { lanes, scheduled },
      text: `${lanes} lanes have work; added ${scheduled} missing turns to the queue.`,
    };
  },
};

const rebuildQueue = ({ config, out }: Call): Promise<QueueRebuilt> =>
  withStores(config, async (stores) => {
    const { rebuildQueue } = await import('@slowwave/engine');
    const { openQueue } = await import('@slowwave/adapters/assemble');
    const { openSchedule } = await import('@slowwave/adapters/bullmq');
    const connection = await openQueue(config, stores.log);
    const schedule = await openSchedule({ connection, log: stores.log });
    try {
      return await tracked(out, { title: 'rebuild queue', unit: 'lanes' }, ({ update }) =>
        rebuildQueue(stores, schedule, ({ lanes }) => update(lanes, lanes)),
      );
    } finally {
      await schedule.close();
      await connection.close();
    }
  });
