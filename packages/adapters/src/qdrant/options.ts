import type { Log } from '@slowwave/engine';
import type { Keeping } from './collections.ts';
import { connectQdrant, type QdrantServer } from './server.ts';
import { namesOf } from './space.ts';
import { type Abilities, abilitiesOf } from './version.ts';

export interface QdrantOptions {
  /** Where the server is. A path is kept: a proxy may serve it there. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly dimensions: number;
  /** Names the vector space: vectors of two fingerprints never share a collection. */
  readonly fingerprint: string;
  readonly log: Log;
  /** The name of the index on its server, for several installations on one; the names of its collections begin with it. */
  readonly alias?: string;
  readonly quantized?: boolean;
  readonly onDisk?: boolean;
}

const ALIAS = 'slowwave';

export interface Connected {
  readonly server: QdrantServer;
  readonly keeping: Keeping;
  readonly abilities: Abilities;
}

/** The server of the options, known to answer and to be new enough. */
export async function connected(options: QdrantOptions): Promise<Connected> {
  const { alias = ALIAS, quantized = false, onDisk = false, dimensions, fingerprint } = options;
  const server = connectQdrant(options);
  const { version } = await server.call((client) => client.versionInfo());
  const keeping = { names: namesOf({ alias, dimensions, fingerprint }), dimensions, quantized, onDisk };
  return { server, keeping, abilities: abilitiesOf(version, server.place) };
}
