import { pointsInLane } from '../graph/project.ts';
import { withoutVectors } from '../models/embed.ts';
import type { BundleStore } from '../ports/ledger/bundles.ts';
import type { BatchPoints, StandingOwner } from '../ports/ledger/owners-away.ts';
import type { GraphItem } from '../ports/ledger/graph.ts';
import type { IndexPoint, SearchIndex } from '../ports/search-index.ts';
import type { SegmentContent } from '../ports/segments.ts';
import { type Cancellation, portionsOf } from '../ports/tools.ts';
import { type MakingDeps, makePoints } from '../projection/make-points.ts';
import { markerOf } from '../projection/marker.ts';

export type SegmentDeps = MakingDeps & {
  readonly index: Pick<SearchIndex, 'vectors'>;
  readonly bundles: Pick<BundleStore, 'lines'>;
};

/** Characters of an owner's lines. One with more would fill the memory of whoever wakes it, and stays awake. */
const LINES_MAX = 64_000_000;
/** Memories, batches, entities or relations whose points are made at a time. */
const SLICE = 100;
/** Points whose vectors are read at a time. */
const VECTORS = 500;
/** Of what comes back batches, entities and relations begin anew: whatever is written of them later is newer than this. */
const FIRST_REVISION = 1;

/** All of an owner, read in parts. null: it changes, is gone, or is too large; `cool` finds out what was written after its stamp. */
export async function segmentOf(
  deps: SegmentDeps,
  standing: StandingOwner,
  cancel: Cancellation,
): Promise<SegmentContent | null> {
  const lines = await linesOf(deps, standing);
  if (lines === null) return null;
  const { points, told } = await pointsOf(deps, { standing, ids: idsByType(lines) }, cancel);
  return { lines, points, told, space: markerOf(deps).fingerprint };
}

async function linesOf(
  { bundles }: Pick<SegmentDeps, 'bundles'>,
  { tenant, owner }: StandingOwner,
): Promise<readonly string[] | null> {
  const lines: string[] = [];
  let characters = 0;
  let cursor: string | null = null;
  do {
    const page = await bundles.lines(tenant, owner, { cursor, moving: false });
    if (page.kind !== 'page') return null;
    for (const line of page.lines) {
      lines.push(line);
      characters += line.length;
    }
    if (characters > LINES_MAX) return null;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return lines;
}

type Ids = ReadonlyMap<string, readonly string[]>;

function idsByType(lines: readonly string[]): Ids {
  const wanted = new Set(['batch', 'memory', 'entity', 'relation']);
  const parsed = lines.map((line) => JSON.parse(line) as { readonly type: string; readonly id: string });
  const named = parsed.filter(({ type }) => wanted.has(type));
  return new Map([...Map.groupBy(named, ({ type }) => type)].map(([type, of]) => [type, of.map(({ id }) => id)]));
}

/** Made without a model: their vectors are those that the index has. */
async function pointsOf(
  given: SegmentDeps,
  { standing: { tenant, lane }, ids }: { readonly standing: StandingOwner; readonly ids: Ids },
  cancel: Cancellation,
): Promise<Pick<SegmentContent, 'points' | 'told'>> {
  const deps = { ...given, ...withoutVectors(given) };
  const { ledger } = deps;
  const idsOf = (type: string): (readonly string[])[] => portionsOf(ids.get(type) ?? [], SLICE);
  const points = new Map<string, IndexPoint>();
  const add = (made: readonly IndexPoint[]): void => {
    for (const point of made) points.set(`${point.shelf} ${point.memoryId} ${point.version}`, point);
  };
  const told: BatchPoints[] = [];
  for (const some of idsOf('memory')) {
    const memories = await ledger.memories.many(tenant, some);
    add((await makePoints(deps, { tenant, lane, memories, batches: [] }, cancel)).points);
  }
  for (const some of idsOf('batch')) {
    const batches = await ledger.speech.batches(some);
    const made = await makePoints(deps, { tenant, lane, memories: [], batches }, cancel);
    add(made.points);
    told.push(...made.projected.map(({ id, points: count }) => ({ id, points: count })));
  }
  for (const some of idsOf('entity')) {
    const entities = await ledger.graph.entities(tenant, some);
    add(await graphPoints(entities.map((entity) => ({ kind: 'entity', entity }))));
  }
  for (const some of idsOf('relation')) {
    const relations = await ledger.graph.relations(tenant, some);
    add(await graphPoints(relations.map((relation) => ({ kind: 'relation', relation }))));
  }
  async function graphPoints(items: readonly GraphItem[]): Promise<readonly IndexPoint[]> {
    return (await pointsInLane(deps, { lane, items }, cancel)).points;
  }
  return { points: await withVectors(given, [...points.values()].map(revised)), told };
}

const revised = (point: IndexPoint): IndexPoint =>
  point.shelf === 'memories' ? point : { ...point, revision: FIRST_REVISION };

async function withVectors(
  { index, embedder }: Pick<SegmentDeps, 'index' | 'embedder'>,
  points: readonly IndexPoint[],
): Promise<readonly IndexPoint[]> {
  const none = new Float32Array(embedder.dimensions);
  const full: IndexPoint[] = [];
  for (const some of portionsOf(points, VECTORS)) {
    const vectors = await index.vectors(some);
    full.push(...some.map((point, i) => ({ ...point, vector: vectors[i] ?? none })));
  }
  return full;
}
