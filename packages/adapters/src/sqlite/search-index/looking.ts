import type { IndexQuery } from '@slowwave/engine';
import { visible } from '@slowwave/engine/storing';
import type { Fitting } from './fitting.ts';
import { cosinesOf, type Legs, legsOf, type Seen } from './legs.ts';
import type { ManyPoints } from './many.ts';
import type { Sight } from './many-sight.ts';
import type { FoundPoint } from './protocol.ts';
import { type IdPart, idWords } from './record.ts';
import { byMemory, type Segment, type StoredPoint } from './stored-point.ts';

/** The points of one owner in memory, wherever the index that they are from is. */
export interface PointsOfOwner {
  /** Side by side, and what was written since in small ones. */
  readonly segments: readonly Segment[];
  /** What very many are looked up in, in place of segments; null: they are few. */
  readonly many: ManyPoints | null;
}

/** A point with its scores; null: that leg did not compare it. */
interface Scored {
  readonly point: StoredPoint;
  readonly vectorScore: number | null;
  readonly keywordScore: number | null;
}

/** The points either leg finds, by memory id and version, each scored in both. */
export function foundIn(table: PointsOfOwner, query: IndexQuery, narrowed: Narrowed): readonly Scored[] {
  const legs = legsFor(table, query, narrowed);
  const { vector, terms } = query;
  const vectorScores = new Map(vector === null ? [] : legs.nearest({ ...query, vector }));
  const also = new Set(vectorScores.keys());
  const keywordScores = new Map(terms === null ? [] : legs.byWords({ ...query, terms, also }));
  const byWords = [...keywordScores.keys()].filter((point) => !also.has(point));
  if (vector !== null) for (const [point, score] of cosinesOf(byWords, vector)) vectorScores.set(point, score);
  const found = [...new Set([...vectorScores.keys(), ...keywordScores.keys()])].sort(byMemory);
  return found.map((point) => ({
    point,
    vectorScore: vectorScores.get(point) ?? null,
    keywordScore: keywordScores.get(point) ?? null,
  }));
}

/** With what a hit shows, as far as it is known. */
export const shownOf = (found: readonly Scored[], payloadOf: (point: StoredPoint) => string | null): FoundPoint[] =>
  found.flatMap(({ point, vectorScore, keywordScore }) => {
    const payload = payloadOf(point);
    const { memoryId, version, live } = point;
    return payload === null ? [] : [{ payload, memoryId, version, live, vectorScore, keywordScore }];
  });

/** Slots of an owner with few points that a filter leaves; null: it leaves all of them. Of many, points are filtered where they are. */
export type Narrowed = Pick<Fitting, 'has'> | null;

function legsFor(table: PointsOfOwner, query: IndexQuery, narrowed: Narrowed): Legs {
  return table.many?.seen(sightOf(query)) ?? legsOf(seenOf(table, query, narrowed));
}

export function seenOf({ segments }: Pick<PointsOfOwner, 'segments'>, query: IndexQuery, narrowed: Narrowed): Seen {
  const { isSeen } = sightOf(query);
  return segments.flatMap(({ points }) =>
    points.filter((point) => isSeen(point) && (narrowed === null || narrowed.has(point.slot))),
  );
}

function sightOf(query: IndexQuery): Sight {
  const { visibility, where, owner } = query;
  const asked = idsOf(query).map(({ part, id }) => ({ part, words: idWords(id) }));
  return {
    visibility,
    narrows: asked.length > 0,
    ...{ where, owner },
    isSeen: (point) =>
      (visibility.kind === 'told_last' || visible(point, { visibility, filter: {} })) &&
      asked.every(({ part, words }) => point.isOf(part, words)),
  };
}

/** The ids that a point must have, and in which of its lists. */
function idsOf({ filter, visibility }: IndexQuery): { readonly part: IdPart; readonly id: string }[] {
  const named = (['agentId', 'runId', 'appId'] as const).flatMap((part) => {
    const id = filter[part];
    return id === undefined ? [] : [{ part, id }];
  });
  return visibility.kind === 'told_last' ? [...named, { part: visibility.among, id: visibility.appId }] : named;
}
