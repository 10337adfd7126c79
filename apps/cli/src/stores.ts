import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenEmbedder } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import type {
  ColdStore,
  Embedder,
  EngineSettings,
  Ledger,
  Log,
  SearchIndex,
  SegmentStore,
  Tools,
} from '@slowwave/engine';
import { CommandError, EXIT } from './exit.ts';

/** What an offline command works on, opened as the settings say. */
export interface Stores {
  readonly ledger: Ledger;
  readonly tools: Tools;
  readonly settings: EngineSettings;
  readonly log: Log;
  // What follows is opened when it is asked for, and closed with the rest.
  /** For what has to be embedded: an embedding server has to be there. */
  embedder(): Promise<OpenEmbedder>;
  /** The index and the vectors in it, also while the embedding server is away. */
  space(): Promise<{ readonly index: SearchIndex; readonly embedder: Embedder }>;
  /** Where owners sleep; null: nobody does. */
  openSleeping(): Promise<{ readonly cold: ColdStore; readonly segments: SegmentStore } | null>;
  close(): Promise<void>;
}

/** Works on the stores and closes them, however the work ends. */
export async function withStores<T>(config: Config, work: (stores: Stores) => Promise<T>): Promise<T> {
  const stores = await openStores(config);
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

async function openStores(config: Config): Promise<Stores> {
  await requireLedger(config);
  // Loaded only where it is used: it brings every store and queue there is.
  const { engineSettings, observe, openEmbedder, openLedger, openSpace, segmentStoreOf } = await import(
    '@slowwave/adapters/assemble'
  );
  const { systemTools } = await import('@slowwave/adapters/system');
  const log = await quietLog(config);
  const observer = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const ledger = await openLedger(config, log, observer);
  const known = { meter: observer.meter, models: ledger.models, ledger: Promise.resolve(ledger) };
  const opened: { close(): Promise<void> }[] = [];
  const kept = async <O extends { close(): Promise<void> }>(opening: Promise<O>): Promise<O> => {
    const one = await opening;
    opened.push(one);
    return one;
  };
  return {
    ledger,
    tools: systemTools,
    settings: engineSettings(config),
    log,
    embedder: () => kept(openEmbedder(config, log, known)),
    space: async () => {
      const { index, embedder } = await kept(openSpace(config, log, known));
      return { index, embedder: embedder.documents };
    },
    openSleeping: async () =>
      config.cold === null ? null : { cold: ledger.cold, segments: segmentStoreOf(config.cold) },
    close: async () => {
      for (const one of opened) await one.close();
      await ledger.close();
    },
  };
}

/** To standard error, for standard output has the answer; and only what a person should know. */
export async function quietLog({ logLevel }: Config): Promise<Log> {
  const { createLog } = await import('@slowwave/adapters/pino');
  return createLog({
    level: logLevel === 'info' ? 'warn' : logLevel,
    name: 'cli',
    pretty: true,
    destination: { write: (line) => void process.stderr.write(line) },
  });
}

/** A ledger is made by a server: here a missing one means that the wrong folder was named. */
export async function requireLedger({ databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== null) return;
  const path = join(dataDir, 'ledger.db');
  try {
    await access(path);
  } catch {
    throw new CommandError(
      `expected the ledger ${path}, got no such file; name its folder with --data-dir (SLOWWAVE_DATA_DIR), or the ` +
        'database with DATABASE_URL',
      EXIT.notFound,
    );
  }
}
