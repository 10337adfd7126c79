import { join } from 'node:path';
import { openPool, openPostgresIndex, openPostgresLedger } from '@slowwave/adapters/postgres';
import { openSqliteIndex } from '@slowwave/adapters/sqlite';
import {
  DEFAULT_TENANT,
  type Embedder,
  eventIdOf,
  evolve,
  type Home,
  type Ledger,
  type MemoryChange,
  type MemoryEvent,
  markerOf,
  type Owner,
  ownerBitsOf,
  project,
} from '@slowwave/engine';
import { recordingMeter } from '@slowwave/engine-testing';
import { product } from '../../product.ts';

const SETTINGS = { messagesInIndex: 'off' as const };
const AT_ONCE = 500;

/** The settings of a server on such a folder: the same vectors, and no messages in its index. */
export const settingsOf = ({ dimensions }: Pick<Filling, 'dimensions'>) => ({
  SLOWWAVE_EMBEDDING_MODEL: MODEL,
  SLOWWAVE_EMBEDDING_DIMENSIONS: String(dimensions),
  SLOWWAVE_INDEX_MESSAGES: SETTINGS.messagesInIndex,
});

const MODEL = 'scripted';
const NOTHING_USED = { promptTokens: 0, completionTokens: 0 };

interface Filling {
  readonly dimensions: number;
  readonly owner: Owner;
  readonly lines: readonly string[];
  vectorOf(text: string): Float32Array;
  progress(filled: number): void;
}

/** Where ledger and index are: in files of a folder, or both in a PostgreSQL. */
export type Place = { readonly folder: string } | { readonly database: string };

function openAt(place: Place, { fingerprint, dimensions }: Embedder) {
  const space = { fingerprint, dimensions };
  if ('folder' in place) {
    const index = openSqliteIndex({ path: join(place.folder, 'index.db'), ...space });
    return Promise.all([product.openLedger(join(place.folder, 'ledger.db')), index]);
  }
  const { tools, log } = product;
  const at = { url: place.database, log };
  return Promise.all([
    openPostgresLedger({ ...at, tools }),
    openPostgresIndex({ ...at, schema: 'slowwave_index', ...space }),
  ]);
}

/** Makes stores in which an owner was told these lines, with everything that the product keeps of them. */
export async function fill(place: Place, filling: Filling): Promise<void> {
  const embedder: Embedder = {
    fingerprint: `openai:${MODEL}:${filling.dimensions}`,
    dimensions: filling.dimensions,
    embed: async (texts) => ({ vectors: texts.map(filling.vectorOf), usage: NOTHING_USED }),
  };
  const [ledger, index] = await openAt(place, embedder);
  try {
    await index.stamp(markerOf({ ledger, embedder, settings: SETTINGS }));
    const meter = recordingMeter();
    const deps = { ledger, index, embedder, meter, tools: product.tools, settings: SETTINGS };
    for (let from = 0; from < filling.lines.length; from += AT_ONCE) {
      const changes = await changesOf(ledger, filling, from);
      await ledger.memories.write(DEFAULT_TENANT, { changes, tombstones: [], now: Date.now() });
      const entries = await ledger.outbox.pending(AT_ONCE, { after: 0, upTo: Number.MAX_SAFE_INTEGER });
      await project(deps, { entries, batches: [] }, new AbortController().signal);
      filling.progress(from + changes.length);
    }
  } finally {
    await Promise.all([index.close(), ledger.close()]);
  }
  // Else the server does so in the middle of what is measured.
  if ('database' in place) await vacuum(place.database, 'ANALYZE');
}

export async function vacuum(url: string, how: 'ANALYZE' | 'FULL'): Promise<void> {
  const pool = openPool({ url, schema: 'public', max: 1, log: product.log, settings: { statement_timeout: '0' } });
  try {
    await pool.query(`VACUUM (${how})`);
  } finally {
    await pool.end();
  }
}

const FIRST_SAID = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

async function changesOf(ledger: Ledger, { owner, lines }: Filling, from: number): Promise<readonly MemoryChange[]> {
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, owner, Date.now());
  const scope = { userId: owner.id, agentId: null, runId: null, appId: null };
  const home = { tenant: DEFAULT_TENANT, lane, owner, scope };
  return lines.slice(from, from + AT_ONCE).map((text, i) => {
    const at = FIRST_SAID + (from + i) * MINUTE_MS;
    const event = eventOf(home, { text, number: from + i }, at);
    return { memory: evolve(home, null, [event]), expectedRevision: 0, events: [event] };
  });
}

/** What is asked of metadata: many have the same part, and each has a source of its own. */
export const PARTS = 50;
export const sourceOf = (number: number): string => `document ${number}`;

interface Told {
  readonly text: string;
  readonly number: number;
}

const eventOf = (home: Home, told: Told, at: number): MemoryEvent => {
  const memoryId = product.tools.id('mem', ownerBitsOf(product.tools, home));
  return { id: eventIdOf(memoryId, 1), memoryId, ...whatIsSaid(told, at) };
};

const whatIsSaid = ({ text, number }: Told, at: number): Omit<MemoryEvent, 'id' | 'memoryId'> => ({
  revision: 1,
  kind: 'ADD',
  actor: 'api',
  consolidationId: null,
  factId: null,
  reason: 'filled',
  previous: null,
  saidAt: { at, seq: at },
  validFrom: at,
  recordedAt: at,
  text,
  details: {
    ...{ category: null, language: null, about: 'user', trust: 'imported', quote: null, sourceIds: [] },
    ...{ metadata: { part: number % PARTS, source: sourceOf(number) }, immutable: false, expiresAt: null },
  },
  sourceIds: [],
});
