import { resolve } from 'node:path';
import type { Embedder, Finding, QueueRebuilt, Rebuilt, TenantId } from '@slowwave/engine';
import { type Call, type Command, countOf, OptionError } from '../command.ts';
import { EXIT } from '../exit.ts';
import { tracked } from '../output.ts';
import { requireLedger, type Stores, withStores } from '../stores.ts';
import { embedderLoaded } from './models.ts';

export const maintenanceCommands: readonly Command[] = [
  {
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
  },
  {
    name: 'index promote',
    usage: '[tenant…]',
    on: 'stores',
    summary: 'Give large tenants their own shards on Qdrant.',
    about: `Requires SLOWWAVE_QDRANT_SHARDS. Works while servers run: Qdrant copies the tenant's points into a new
shard and uses the common shard until the copy is complete.
If it is stopped, the next run continues. A tenant keeps its shard when the index is rebuilt.`,
    options: {
      over: { value: 'COUNT', about: 'All tenants with more memories than this in the index, including former ones.' },
    },
    run: ({ config, given, out, cancel }) =>
      withStores(config, async (stores) => {
        const { promoteTenant } = await import('@slowwave/adapters/assemble');
        const { index, embedder } = await stores.space();
        const over = given.text('over') === null ? null : countOf(given, 'over', { usual: 1, max: MOST });
        const named = given.words.map((tenant) => tenant as TenantId);
        if (named.length === 0 && over === null)
          throw new OptionError('over', 'names of tenants, or --over with a number of memories', '');
        const tenants = over === null ? named : [...new Set([...named, ...(await largerThan(stores, index, over))])];
        const promoted: { tenant: string; memories: number; promoted: boolean }[] = [];
        for (const tenant of tenants) {
          const memories = await index.count(tenant);
          const isNew = await tracked(out, { title: `promote ${tenant}`, unit: 'points' }, ({ update }) =>
            promoteTenant(
              config,
              { ...stores, embedder },
              { tenant, cancel, onProgress: (points) => update(points, Math.max(points, memories)) },
            ),
          );
          promoted.push({ tenant, memories, promoted: isNew });
        }
        const lines = promoted.map(({ tenant, memories, promoted }) =>
          promoted
            ? `${tenant}: ${memories} memories now have their own shard.`
            : `${tenant} already had its own shard.`,
        );
        return { value: { tenants: promoted }, text: lines.join('\n') || 'No tenant is that large.' };
      }),
  },
  {
    name: 'rebuild queue',
    on: 'stores',
    summary: 'Rebuild the queue from the ledger.',
    about: `Works directly on the configured stores, while servers run, and only adds what the queue lacks.
Workers do the same once a second for lanes that are due. An in-process queue (neither
REDIS_URL nor DATABASE_URL) does not need it: its server fills it from the ledger at every start.`,
    run: async (call) => {
      const { config } = call;
      if (config.redisUrl === null && config.databaseUrl === null) {
        const note =
          'the queue is in the standalone server, which fills it from the ledger; there is nothing to rebuild';
        return { value: { lanes: null, scheduled: 0, note }, text: note };
      }
      const { lanes, scheduled } = await rebuildQueue(call);
      return {
        value: { lanes, scheduled },
        text: `${lanes} lanes have work; added ${scheduled} missing turns to the queue.`,
      };
    },
  },
  {
    name: 'backup',
    usage: '<folder>',
    on: 'stores',
    summary: 'Copy the ledger as it is now into a new folder, while servers run.',
    about: `The backup contains every batch acknowledged before it began. A SQLite ledger is copied by
SQLite itself, a PostgreSQL ledger by pg_dump. Index and queue need no backup, because they are
rebuilt from the ledger. Segments of sleeping owners are copied from a folder, but not from a bucket.
The folder contains what users said: keep it private.`,
    run: async ({ config, out, cancel, given }) => {
      const folder = resolve(given.words[0] ?? '');
      await requireLedger(config);
      const { backUp } = await import('@slowwave/adapters/backup');
      const manifest = await tracked(out, { title: 'backup', unit: 'bytes' }, ({ update }) =>
        backUp(config, folder, { cancel, onBytes: update }),
      );
      const { batches, memories } = manifest.counts;
      const missing = manifest.segments.store === 'folder' ? manifest.segments.sleeping - manifest.segments.copied : 0;
      const text = `Copied ${batches} batches and ${memories} memories to ${folder}.${saidOfSegments(manifest.segments)}`;
      return { value: { folder, manifest }, text, exit: missing > 0 ? EXIT.findings : EXIT.done };
    },
  },
  {
    name: 'restore',
    usage: '<folder>',
    on: 'stores',
    summary: 'Replace the ledger with a backup. Stop every server first.',
    about: `The backup is checked first. The restored ledger gets a new id, so that an index with later
data is not trusted: index and queue are rebuilt when servers start.`,
    options: {
      force: { value: null, about: 'Replace an existing ledger; its data is lost.' },
    },
    run: async ({ config, out, cancel, given }) => {
      const folder = resolve(given.words[0] ?? '');
      const { restore } = await import('@slowwave/adapters/backup');
      const { manifest, ledgerId, missing } = await tracked(out, { title: 'check', unit: 'bytes' }, ({ update }) =>
        restore(config, folder, { force: given.flag('force'), cancel, onBytes: update }),
      );
      const { batches, memories } = manifest.counts;
      return {
        value: { ledger_id: ledgerId, manifest, missing_segments: missing },
        text:
          `Restored ${batches} batches and ${memories} memories of ${manifest.taken_at}. Start the servers: they rebuild ` +
          `index and queue. Then run slowwave doctor to check the result.${lacking(missing)}`,
        exit: missing.length > 0 ? EXIT.findings : EXIT.done,
      };
    },
  },
];

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

const MOST = 1_000_000_000_000;

async function largerThan(
  { ledger }: Pick<Stores, 'ledger'>,
  index: Awaited<ReturnType<Stores['space']>>['index'],
  least: number,
): Promise<readonly TenantId[]> {
  const larger: TenantId[] = [];
  for (const tenant of await ledger.audit.tenants()) if ((await index.count(tenant)) > least) larger.push(tenant);
  return larger;
}

interface Segments {
  readonly sleeping: number;
  readonly copied: number;
  readonly store: 'folder' | 'bucket' | 'unknown';
}

function saidOfSegments({ sleeping, copied, store }: Segments): string {
  if (sleeping === 0) return '';
  if (store === 'bucket')
    return ` ${sleeping} owners sleep in the bucket of SLOWWAVE_COLD_STORE, which the backup does not contain: back up the bucket now.`;
  if (store === 'unknown')
    return ` The backup lacks the segments of ${sleeping} sleeping owners: set SLOWWAVE_COLD_DAYS and SLOWWAVE_COLD_STORE as for the servers.`;
  return copied === sleeping
    ? ` The backup includes the segments of ${sleeping} sleeping owners.`
    : ` Of ${sleeping} sleeping owners, ${sleeping - copied} have no segment: run slowwave doctor.`;
}

const SHOWN = 10;

const lacking = (missing: readonly string[]): string =>
  missing.length === 0
    ? ''
    : `\n${missing.length} sleeping owners have no segment in SLOWWAVE_COLD_STORE; restore these objects, or erase their ` +
      `owners: ${missing.slice(0, SHOWN).join(', ')}${missing.length > SHOWN ? ' …' : ''}`;
