import { DEFAULT_TENANT, type Embedder, fuse, hashVector, type Millis, terms } from '@slowwave/engine';
import { type BenchOptions, type EngineBench, engineBench } from './engine-bench.ts';
import { type FakeChat, fakeChat, type Script } from './fake-models.ts';
import { MORNING } from './fixed-tools.ts';
import { echoExtract, keyedDecide } from './scripts.ts';
import type { World } from './worlds.ts';

const DIMENSIONS = 1_024;
const BATCH = 20;
const MINUTE = 60_000;

/** The vectors of the product without a model. */
const hashEmbedder: Embedder = {
  fingerprint: `hashed-${DIMENSIONS}`,
  dimensions: DIMENSIONS,
  embed: async (texts) => ({
    vectors: texts.map((text) => hashVector(text, DIMENSIONS)),
    usage: { promptTokens: 0, completionTokens: 0 },
  }),
};

/** A model that never errs about a world. */
export const perfectChat = (world: Pick<World, 'keyOf'>, scripts: Readonly<Record<string, Script>> = {}): FakeChat =>
  fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(world.keyOf), ...scripts });

/** Near as the product takes it for hashed vectors. */
const NEAR = { vector: 0.12, keyword: 0.2, pair: 0.18, overlap: 0.1 };

export const WORLD_OPTIONS = { embedder: hashEmbedder, settings: { near: NEAR } } as const;

export const worldBench = (options: BenchOptions): Promise<EngineBench> =>
  engineBench({ ...WORLD_OPTIONS, ...options, settings: { ...WORLD_OPTIONS.settings, ...options.settings } });

export interface WorldBatch {
  readonly at: Millis;
  readonly texts: readonly string[];
}

/** A world as it is posted: each batch said a minute after the one before. */
export function batchesOf({ texts }: Pick<World, 'texts'>, size = BATCH): readonly WorldBatch[] {
  const count = Math.ceil(texts.length / size);
  return Array.from({ length: count }, (_, i) => ({
    at: MORNING + i * MINUTE,
    texts: texts.slice(i * size, (i + 1) * size),
  }));
}

/** Posts a world batch by batch; each is consolidated before the next comes. */
export async function play(bench: EngineBench, batches: readonly WorldBatch[]): Promise<void> {
  for (const { at, texts } of batches) {
    await bench.post(texts, { at });
    await bench.run();
  }
}

/** What a search for words finds, best first, at a time or now. */
export async function searched({ deps }: EngineBench, query: string, asOf?: Millis): Promise<readonly string[]> {
  const { vectors } = await deps.embedder.embed([query], {
    aborted: false,
    addEventListener() {},
    removeEventListener() {},
  });
  const owner = { kind: 'user', id: 'ann' } as const;
  const lane = await deps.ledger.memories.laneOf(DEFAULT_TENANT, owner, deps.tools.now());
  const [hits = []] = await deps.index.search([
    {
      tenant: DEFAULT_TENANT,
      ...{ owner, lane },
      shelf: 'memories',
      filter: {},
      visibility: asOf === undefined ? { kind: 'live', now: deps.tools.now() } : { kind: 'as_of', at: asOf },
      vector: vectors[0] ?? null,
      terms: terms(query),
      where: null,
      wide: false,
      limit: 50,
    },
  ]);
  return fuse(hits, { mode: 'hybrid', vectors: deps.settings.vectors }).map(({ hit }) => hit.point.text);
}
