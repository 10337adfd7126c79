import { inApp } from '../memories/in-app.ts';
import { idListsOf } from '../memories/said-ids.ts';
import type { IndexHit, IndexQuery, ShownPoint } from '../ports/search-index.ts';
import { shownPart } from '../ports/search-index.ts';
import { NOTHING_SAID, pointsOf } from '../projection/make-points.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Memory } from '../words.ts';
import type { Condition } from './filter/filter.ts';
import { matches } from './filter/filter.ts';
import { visible } from './hits.ts';

/** Memories that an app was told of which the index does not know: too many others were, since. */
type Beyond = readonly { readonly memoryId: string }[];

/**
 * How an index is asked for what one app may know: for what it was told last of each memory. What was told to others, too, is
 * found by its text alone, never by what else was said to them. Filters are left out: what an app knows of a memory may differ
 * from what the index does, so that they are asked of what comes back (`hitsInApp`).
 */
export function queriesInApp(query: IndexQuery, appId: string, beyond: Beyond): readonly IndexQuery[] {
  const open = { ...query, filter: {}, where: null };
  const ever = { ...open, visibility: { kind: 'every', begunBy: null }, wide: false } as const;
  const others = beyond.length === 0 ? [] : [{ ...ever, where: oneOf(beyond) }];
  const { kind } = query.visibility;
  if (kind === 'as_of' || kind === 'every') return [{ ...ever, filter: { appId } }, ...others];
  const told = { kind: 'told_last', appId } as const;
  return [
    { ...open, visibility: { ...told, among: 'alone' } },
    { ...open, visibility: { ...told, among: 'shared' }, wide: false },
    ...others,
  ];
}

const oneOf = (beyond: Beyond): Condition => ({
  kind: 'condition',
  field: { name: 'memoryId' },
  test: { kind: 'equals', values: [...new Set(beyond.map(({ memoryId }) => memoryId))] },
});

interface InApp {
  readonly appId: string;
  /** What was asked for, of what the app knows. */
  readonly query: Pick<IndexQuery, 'visibility' | 'filter' | 'where'>;
}

/**
 * What was found, as one app knows it: versions it was told, seen and filtered as if nothing had been said elsewhere, each once.
 * A hit counts for a version that reads the same. `memories` are those that were found, as the ledger has them.
 */
export function hitsInApp(hits: readonly IndexHit[], memories: readonly Memory[], asked: InApp): readonly IndexHit[] {
  const points = Map.groupBy(
    memories.flatMap((memory) => pointsInApp(memory, asked)),
    nameOf,
  );
  const best = new Map<string, IndexHit>();
  for (const hit of hits) {
    for (const point of points.get(nameOf(hit.point)) ?? []) {
      const key = `${point.memoryId} ${point.version}`;
      const known = best.get(key);
      best.set(key, {
        point:
          known?.point ?? (point.speaker === null && isAlone(hit) ? { ...point, speaker: hit.point.speaker } : point),
        vectorScore: higher(known?.vectorScore, hit.vectorScore),
        keywordScore: higher(known?.keywordScore, hit.keywordScore),
      });
    }
  }
  return [...best.values()];
}

const nameOf = ({ memoryId, text }: Pick<ShownPoint, 'memoryId' | 'text'>): string =>
  `${memoryId} ${normaliseText(text)}`;
const isAlone = ({ point }: IndexHit): boolean => (point.toldLast?.alone.length ?? 0) > 0;

const higher = (one: number | null | undefined, other: number | null): number | null =>
  one === null || one === undefined ? other : Math.max(one, other ?? one);

const NO_VECTOR = new Float32Array(0);

/** The versions that an app sees by a question. */
function pointsInApp(memory: Memory, { appId, query }: InApp): readonly ShownPoint[] {
  const known = inApp(memory, appId);
  if (known === null) return [];
  const ids = idListsOf(known);
  return pointsOf(known, { vectorOf: () => NO_VECTOR, said: NOTHING_SAID })
    .map((point) => ({ ...shownPart(point), ids }))
    .filter((point) => visible(point, query) && (query.where === null || matches(query.where, point)));
}

/** Whether an app was ever told what a hit says. */
export function toldTo(appId: string, memories: readonly Memory[]): (hit: IndexHit) => boolean {
  const texts = new Set(
    memories.flatMap((memory) =>
      (inApp(memory, appId)?.versions ?? []).map(({ text }) => nameOf({ memoryId: memory.id, text })),
    ),
  );
  return ({ point }) => texts.has(nameOf(point));
}
