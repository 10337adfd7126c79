import { join } from 'node:path';
import { z } from 'zod';
import { Count, Flag, pathOf, Url } from './kinds.ts';

/** Owners that sleep, and their segments. */
export const COLD_SETTINGS = {
  SLOWWAVE_COLD_DAYS: Count(0, 3_650)
    .optional()
    .describe(
      'Owners that were inactive for this many days are put to sleep: their data moves to segments outside the ledger; see docs/cold.md. 0: only owners named with slowwave cold. Default: off.',
    ),
  SLOWWAVE_COLD_STORE: z
    .string()
    .regex(
      /^(?:s3:\/\/[a-z0-9][a-z0-9.-]{1,62}(?:\/[\w./-]*)?|(?!\w+:\/\/).+)$/,
      'must be a folder, or s3://BUCKET/PREFIX',
    )
    .optional()
    .describe(
      'Location of the segments: a folder that all processes share, or s3://BUCKET/PREFIX. Default: the folder cold in SLOWWAVE_DATA_DIR.',
    ),
  SLOWWAVE_COLD_ENDPOINT: Url('http:', 'https:')
    .optional()
    .describe('S3-compatible server, e.g. https://minio.example.com. Default: Amazon S3 in the region.'),
  SLOWWAVE_COLD_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be a region, e.g. eu-central-1')
    .default('us-east-1')
    .describe('Region of the bucket.'),
  SLOWWAVE_COLD_ACCESS_KEY: z.string().optional().describe('Access key of the bucket.'),
  SLOWWAVE_COLD_SECRET_KEY: z.string().optional().describe('Secret key of the bucket. Never logged.'),
  SLOWWAVE_COLD_KEEP_HOURS: Count(0, 8_760)
    .default(24)
    .describe(
      'How long the segment of a woken owner is kept, so that an earlier backup of the ledger can be restored. An erasure deletes it at once.',
    ),
  SLOWWAVE_COLD_CACHE_MB: Count(1, 65_536)
    .default(64)
    .describe('Memory per process for segments that searches read, in MB.'),
};

type ColdSettings = z.infer<z.ZodObject<typeof COLD_SETTINGS>>;

const COLD_FOLDER = 'cold';
const S3 = /^s3:\/\/([^/]+)\/?(.*)$/;

/** Where and when owners sleep; null: nobody does. */
export function coldOf(env: ColdSettings & { readonly SLOWWAVE_DATA_DIR: string }, root: string) {
  const { SLOWWAVE_COLD_DAYS: days, SLOWWAVE_COLD_STORE: store } = env;
  if (days === undefined) return null;
  const [, bucket, prefix = ''] = S3.exec(store ?? '') ?? [];
  return {
    /** null: only who is named is laid to sleep. */
    afterMs: days === 0 ? null : days * DAY_MS,
    keepMs: env.SLOWWAVE_COLD_KEEP_HOURS * HOUR_MS,
    cacheBytes: env.SLOWWAVE_COLD_CACHE_MB * 2 ** 20,
    folder: pathOf(store ?? join(env.SLOWWAVE_DATA_DIR, COLD_FOLDER), root),
    /** null: segments are in the folder. */
    bucket:
      bucket === undefined
        ? null
        : {
            name: bucket,
            prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
            endpoint: env.SLOWWAVE_COLD_ENDPOINT ?? null,
            region: env.SLOWWAVE_COLD_REGION,
            accessKey: env.SLOWWAVE_COLD_ACCESS_KEY ?? '',
            secretKey: env.SLOWWAVE_COLD_SECRET_KEY ?? '',
          },
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What is set, and says nothing without something else. */
export function contradictionsOfCold(given: Readonly<Record<string, string | undefined>>): string[] {
  const { SLOWWAVE_COLD_DAYS: days, SLOWWAVE_COLD_STORE: store } = given;
  if (days === undefined) return needless(given, /./, 'sleeping owners; set SLOWWAVE_COLD_DAYS');
  const ofBucket = /^SLOWWAVE_COLD_(ENDPOINT|REGION|ACCESS_KEY|SECRET_KEY)$/;
  if (store?.startsWith('s3://') !== true) {
    return needless(given, ofBucket, 'segments in a bucket; set SLOWWAVE_COLD_STORE to s3://BUCKET/PREFIX');
  }
  const missing = ['SLOWWAVE_COLD_ACCESS_KEY', 'SLOWWAVE_COLD_SECRET_KEY'].filter((name) => given[name] === undefined);
  return missing.map((name) => `${name}: the bucket of SLOWWAVE_COLD_STORE needs it`);
}

const needless = (given: Readonly<Record<string, string | undefined>>, names: RegExp, what: string): string[] =>
  Object.keys(COLD_SETTINGS)
    .filter((name) => given[name] !== undefined && names.test(name))
    .map((name) => `${name}: only applies with ${what}, or unset this`);

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
