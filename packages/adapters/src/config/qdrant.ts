import { z } from 'zod';
import { Count, Flag, Url } from './kinds.ts';

/** An index on Qdrant. */
export const QDRANT_SETTINGS = {
  QDRANT_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Qdrant 1.18 or newer for the index, e.g. http://127.0.0.1:6333. Without it, SLOWWAVE_INDEX selects the index.',
    ),
  QDRANT_API_KEY: z.string().optional().describe('API key of the Qdrant server.'),
  SLOWWAVE_QDRANT_INDEX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')
    .default('slowwave')
    .describe('Name of the index on the Qdrant server. Each installation that shares a server needs its own name.'),
  SLOWWAVE_QDRANT_QUANTIZED: Flag.describe(
    'true: Qdrant quantizes vectors to a quarter of their size in memory and ranks the best matches with the originals.',
  ),
  SLOWWAVE_QDRANT_ON_DISK: Flag.describe(
    'true: Qdrant reads the original vectors from disk instead of keeping them in memory.',
  ),
  SLOWWAVE_QDRANT_SHARDS: Count(1, 1_000)
    .optional()
    .describe(
      'Number of shards over which Qdrant spreads tenants. Large tenants can then get shards of their own (slowwave index promote). Requires Qdrant in cluster mode. A change rebuilds the index. Default: Qdrant’s own sharding.',
    ),
};

type QdrantSettings = z.infer<z.ZodObject<typeof QDRANT_SETTINGS>>;

/** null: the index is in PostgreSQL or a SQLite file. */
export function qdrantOf(env: QdrantSettings) {
  if (env.QDRANT_URL === undefined) return null;
  return {
    url: env.QDRANT_URL,
    apiKey: env.QDRANT_API_KEY ?? null,
    index: env.SLOWWAVE_QDRANT_INDEX,
    quantized: env.SLOWWAVE_QDRANT_QUANTIZED,
    onDisk: env.SLOWWAVE_QDRANT_ON_DISK,
    shards: env.SLOWWAVE_QDRANT_SHARDS ?? 0,
  };
}
