import { idListsOf, KEY_OF, SAID_KINDS, type SaidKind } from '../memories/evolve.ts';
import { inApp } from '../memories/in-app.ts';
import type { SaidId } from '../ports/ledger/memories.ts';
import { type IndexHit, type IndexQuery, type ShownPoint, shownPart } from '../ports/search-index.ts';
import { NOTHING_SAID, pointsOf } from '../projection/make-points.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Memory, NamedIds } from '../words.ts';
import { type Condition, type Field, type Filter, matches } from './filter/filter.ts';
import { visible } from './hits.ts';

/** What a question asks for beside the owner. */
type Asked = Pick<IndexQuery, 'filter' | 'where'>;
type Id = Pick<SaidId, 'kind' | 'id'>;
/** What the ledger knows and the index does not: memories that stand under these ids, too. */
type Beyond = readonly (Id & { readonly memoryId: string })[];

/** The agents, runs and apps that a question names. */
export function idsAsked({ filter, where }: Asked): readonly Id[] {
  const named = SAID_KINDS.flatMap((kind) => {
    const id = filter[KEY_OF[kind]];
    return id === undefined ? [] : [{ kind, id }];
  });
  const all = [...named, ...(where === null ? [] : idsIn(where))];
  return [...new Map(all.map((one) => [`${one.kind} ${one.id}`, one])).values()];
}

function idsIn(filter: Filter): readonly Id[] {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.flatMap(idsIn);
    case 'not':
      return idsIn(filter.of);
    case 'condition':
      return idsOf(filter);
  }
}

function idsOf({ field, test }: Condition): readonly Id[] {
  const kind = kindOf(field);
  if (kind === undefined || test.kind !== 'equals') return [];
  return test.values.flatMap((id) => (typeof id === 'string' ? [{ kind, id }] : []));
}

/**
 * A question as an index has to be asked that knows the newest ids of each memory alone: whoever asks for an id also asks for
 * the memories, by name, of which only the ledger knows that they stand under it. What asks for none of it, does not.
 */
export function withBeyond({ filter, where }: Asked, beyond: Beyond): Asked {
  if (beyond.length === 0) return { filter, where };
  const conditions = SAID_KINDS.flatMap((kind): Condition[] => {
    const id = filter[KEY_OF[kind]];
    return id === undefined ? [] : [equals({ name: KEY_OF[kind] }, [id])];
  });
  const of = [...conditions, ...(where === null ? [] : [where])];
  return { filter: NO_IDS, where: known({ kind: 'all', of }, beyond) };
}

const NO_IDS: NamedIds = {};

function known(filter: Filter, beyond: Beyond): Filter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { kind: filter.kind, of: filter.of.map((one) => known(one, beyond)) };
    case 'not':
      return { kind: 'not', of: known(filter.of, beyond) };
    case 'condition': {
      const asked = new Set(idsOf(filter).map(idNameOf));
      const found = beyond.filter((one) => asked.has(idNameOf(one)));
      return found.length === 0 ? filter : { kind: 'any', of: [filter, namedIn(found)] };
    }
  }
}

const idNameOf = ({ kind, id }: Id): string => `${kind} ${id}`;
const kindOf = ({ name }: Field): SaidKind | undefined => SAID_KINDS.find((kind) => KEY_OF[kind] === name);
const equals = (field: Field, values: readonly string[]): Condition => ({
  kind: 'condition',
  field,
  test: { kind: 'equals', values },
});
const namedIn = (beyond: BeyondOfApp): Condition =>
  equals({ name: 'memoryId' }, [...new Set(beyond.map(({ memoryId }) => memoryId))]);

/** Memories that an app was told of which the index does not know: too many others were, since. */
type BeyondOfApp = readonly { readonly memoryId: string }[];

/**
 * How an index is asked for what one app may know: for what it was told last of each memory. What was told to others, too, is
 * found by its text alone, never by what else was said to them. Filters are left out: what an app knows of a memory may differ
 * from what the index does, so that they are asked of what comes back (`hitsInApp`).
 */
export function queriesInApp(query: IndexQuery, appId: string, beyond: BeyondOfApp): readonly IndexQuery[] {
  const open = { ...query, filter: {}, where: null };
  const ever = { ...open, visibility: { kind: 'every', begunBy: null }, wide: false } as const;
  const others = beyond.length === 0 ? [] : [{ ...ever, where: namedIn(beyond) }];
  const { kind } = query.visibility;
  if (kind === 'as_of' || kind === 'every') return [{ ...ever, filter: { appId } }, ...others];
  const told = { kind: 'told_last', appId } as const;
  return [
    { ...open, visibility: { ...told, among: 'alone' } },
    { ...open, visibility: { ...told, among: 'shared' }, wide: false },
    ...others,
  ];
}

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
    textNameOf,
  );
  const best = new Map<string, IndexHit>();
  for (const hit of hits) {
    for (const point of points.get(textNameOf(hit.point)) ?? []) {
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

const textNameOf = ({ memoryId, text }: Pick<ShownPoint, 'memoryId' | 'text'>): string =>
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
      (inApp(memory, appId)?.versions ?? []).map(({ text }) => textNameOf({ memoryId: memory.id, text })),
    ),
  );
  return ({ point }) => texts.has(textNameOf(point));
}
