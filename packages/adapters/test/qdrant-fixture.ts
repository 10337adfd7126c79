import { randomBytes } from 'node:crypto';
import { QdrantClient } from '@qdrant/js-client-rest';
import type { SearchIndex } from '@slowwave/engine';
import { type KeywordStatistics, recordingLog, SUITE_SPACE } from '@slowwave/engine-testing';
import { test } from 'vitest';
import { openQdrantIndex } from '../src/qdrant/open.ts';
import type { QdrantOptions } from '../src/qdrant/server.ts';

// biome-ignore lint/style/noProcessEnv: only whoever starts the tests knows of a server that they may use.
const { QDRANT_URL, QDRANT_API_KEY } = process.env;

/** A real server; every test has indexes of its own on it, gone at the end. */
export interface TestQdrant {
  readonly url: string;
  readonly apiKey: string | null;
  readonly statistics: KeywordStatistics;
  /** Whether it runs in cluster mode, be it alone. */
  readonly inCluster: boolean;
  readonly options: QdrantOptions;
  readonly client: QdrantClient;
  /** A name no other test uses. */
  newAlias(): string;
  open(alias: string, changed?: Partial<QdrantOptions>): Promise<SearchIndex>;
  /** Removes everything that was made under an alias. */
  remove(alias: string): Promise<void>;
}

/** The server of QDRANT_URL; null, and said aloud as a test of its own, where none answers. */
export async function testQdrant(): Promise<TestQdrant | null> {
  const version = await versionAt(QDRANT_URL);
  if (QDRANT_URL === undefined || version === null) {
    sayThatNothingRan();
    return null;
  }
  const apiKey = QDRANT_API_KEY ?? null;
  const client = new QdrantClient({ url: QDRANT_URL, headers: headers(), checkCompatibility: false });
  const shared = { url: QDRANT_URL, apiKey, log: recordingLog(), ...SUITE_SPACE };
  return {
    url: QDRANT_URL,
    apiKey,
    options: shared,
    inCluster: await isInCluster(QDRANT_URL),
    statistics: Number(version.split('.')[1]) >= 19 ? 'tenant' : 'collection',
    client,
    newAlias: () => `slowwave-test-${randomBytes(6).toString('hex')}`,
    open: (alias, changed = {}) => openQdrantIndex({ ...shared, alias, ...changed }),
    remove: async (alias) => {
      const { collections } = await client.getCollections();
      for (const { name } of collections) if (name.startsWith(alias)) await client.deleteCollection(name);
    },
  };
}

const headers = (): Record<string, string> => (QDRANT_API_KEY === undefined ? {} : { 'api-key': QDRANT_API_KEY });

async function versionAt(url: string | undefined): Promise<string | null> {
  if (url === undefined) return null;
  try {
    const answer = await fetch(url, { headers: headers(), signal: AbortSignal.timeout(5_000) });
    const { version } = (await answer.json()) as { version?: unknown };
    return typeof version === 'string' ? version : null;
  } catch {
    return null;
  }
}

async function isInCluster(url: string): Promise<boolean> {
  const answer = await fetch(new URL('/cluster', url), { headers: headers(), signal: AbortSignal.timeout(5_000) });
  const { result } = (await answer.json()) as { result?: { status?: unknown } };
  return result?.status === 'enabled';
}

function sayThatNothingRan(): void {
  const why = QDRANT_URL === undefined ? 'QDRANT_URL is not set' : `no Qdrant answers at QDRANT_URL ${QDRANT_URL}`;
  const notice = `the tests of the index on Qdrant did NOT run: ${why}; set it to a server of version 1.18 or newer`;
  process.stderr.write(`\n!! ${notice}\n\n`);
  test(`did NOT run: ${why}`, async ({ annotate, expect }) => {
    await annotate(notice, 'warning');
    expect(notice).toContain('did NOT run');
  });
}
