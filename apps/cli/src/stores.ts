import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenEmbedder } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import type { Embedder, EngineSettings, Ledger, Log, SearchIndex, Tools } from '@slowwave/engine';
import { CommandError, EXIT } from './exit.ts';

/** What an offline command works on, opened as the settings say. */
export interface Stores {
  readonly ledger: Ledger;
  readonly embedder: Embedder;
  readonly embedderReady: OpenEmbedder['ready'];
  readonly tools: Tools;
  readonly settings: EngineSettings;
  readonly log: Log;
  /** Opened when it is asked for; closed with the rest. */
  index(): Promise<SearchIndex>;
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
  const { engineSettings, observe, openEmbedder, openIndex, openLedger, openOn } = await import(
    '@slowwave/adapters/assemble'
  );
  const { systemTools } = await import('@slowwave/adapters/system');
  const log = await quietLog(config);
  const observer = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const embedder = await openEmbedder(config, log, observer);
  const ledger = await openOn([embedder], openLedger(config, log, observer));
  const opened: { close(): Promise<void> }[] = [];
  return {
    ledger,
    embedder: embedder.documents,
    embedderReady: embedder.ready,
    tools: systemTools,
    settings: engineSettings(config),
    log,
    index: async () => {
      const index = await openIndex(config, embedder.documents, log);
      opened.push(index);
      return index;
    },
    close: async () => {
      for (const index of opened) await index.close();
      await ledger.close();
      await embedder.close();
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
