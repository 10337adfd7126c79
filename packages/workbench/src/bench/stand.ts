import { join } from 'node:path';
import { type ModelServer, type ModelServerOptions, startModelServer, startOwnServer } from '@slowwave/testkit';
import type { FleetOptions } from '../fleet/fleet.ts';
import { withFleet } from './with-fleet.ts';

/** What is measured, in one process or in several. */
export interface Stand {
  readonly ingest: string;
  readonly search: string;
  readonly console: string;
  /** What it runs on, in words. */
  readonly place: string;
  /** Where the index is, see Fleet. */
  readonly index: readonly string[];
  readonly model: ModelServer;
  /** Where what consolidates shows its metrics. */
  workers(): readonly string[];
  /** Starts to consolidate; where one process does everything it always does. */
  startWorker(): Promise<void>;
}

interface StandOptions {
  readonly processes: 'apart' | 'one';
  readonly model: ModelServerOptions;
  readonly fleet: Omit<FleetOptions, 'workers'>;
}

/** Works with the processes, which are gone afterwards. */
export async function withStand<T>(options: StandOptions, work: (stand: Stand) => Promise<T>): Promise<T> {
  const { processes, model, fleet } = options;
  if (processes === 'one') return withOneProcess(options, work);
  return withFleet({ model, fleet: { ...fleet, workers: 0 } }, ({ running, model: asked }) => {
    const { ingest, search, console, place, index, startWorker } = running;
    const workers = (): readonly string[] => running.workers;
    return work({ ingest, search, console, place, index, startWorker, workers, model: asked });
  });
}

async function withOneProcess<T>({ model, fleet }: StandOptions, work: (stand: Stand) => Promise<T>): Promise<T> {
  const asked = await startModelServer(model);
  try {
    const settings = {
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: asked.baseUrl,
      SLOWWAVE_EMBEDDING_MODEL: 'builtin',
    };
    const server = await startOwnServer({ ...settings, ...fleet.settings });
    try {
      const { url, dataDir } = server;
      const index = [join(dataDir, 'index.db')];
      const startWorker = async (): Promise<void> => {};
      return await work({
        ingest: url,
        search: url,
        console: url,
        place: 'one process',
        index,
        startWorker,
        model: asked,
        workers: () => [url],
      });
    } finally {
      await server.close();
    }
  } finally {
    await asked.close();
  }
}
