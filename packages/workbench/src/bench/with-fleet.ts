import { type ModelServer, type ModelServerOptions, startModelServer } from '@slowwave/testkit';
import { type Fleet, type FleetOptions, startFleet } from '../fleet/fleet.ts';

export interface Wanted {
  /** Whom the processes ask. */
  readonly model?: ModelServerOptions;
  readonly fleet: FleetOptions;
}

export interface Running {
  readonly running: Fleet;
  readonly model: ModelServer;
}

/** Works with the processes and their model, all gone afterwards. What they say is durable is on the disk. */
export async function withFleet<T>({ model = {}, fleet }: Wanted, work: (running: Running) => Promise<T>): Promise<T> {
  const asked = await startModelServer(model);
  try {
    const settings = { OPENAI_BASE_URL: asked.baseUrl, ...fleet.settings };
    const running = await startFleet({ durable: true, ...fleet, settings });
    try {
      return await work({ running, model: asked });
    } finally {
      await running.close();
    }
  } finally {
    await asked.close();
  }
}
