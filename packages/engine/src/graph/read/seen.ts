import type { ShownPoint } from '../../ports/search-index.ts';
import type { RankedHit } from '../../search/rank.ts';
import type { RelationDetails } from '../project.ts';
import type { KeptRelation } from '../words.ts';

/** A relation as far as it is ranked and shown: the same from the ledger and from the index. */
export type SeenRelation = Pick<
  KeptRelation,
  | 'id'
  | 'source'
  | 'relationship'
  | 'destination'
  | 'sourceName'
  | 'destinationName'
  | 'validFrom'
  | 'invalidAt'
  | 'saidAt'
  | 'confirmations'
  | 'memoryIds'
>;

/** A relation that a question has found. */
export interface FoundRelation extends SeenRelation {
  /** 0…1. Orders; says nothing about whether anything answers. */
  readonly score: number;
}

/** What a point on the shelf of relations says. */
export function seenIn(point: ShownPoint): SeenRelation {
  const details = point.metadata as unknown as RelationDetails;
  return {
    id: point.memoryId,
    source: details.source,
    relationship: details.relationship,
    destination: details.destination,
    sourceName: details.source_name,
    destinationName: details.destination_name,
    validFrom: point.validFrom,
    invalidAt: point.invalidAt,
    saidAt: point.saidAt,
    confirmations: point.confirmations,
    memoryIds: details.memory_ids,
  };
}

/** The most that belonging to a relation of the question can add: as much as the words that the best hits share. */
const RELATED = 0.1;

/**
 * Memories from which the found relations came come forward. How sure it is that anything answers stays as it was; a score
 * that is a cosine does too.
 */
export function boostRelated(hits: readonly RankedHit[], relations: readonly FoundRelation[]): readonly RankedHit[] {
  const worth = worthOf(relations);
  if (!hits.some(({ hit }) => worth.has(hit.point.memoryId))) return hits;
  const sure = sureness(hits);
  const sums = hits.map((one) => one.relative + RELATED * (worth.get(one.hit.point.memoryId) ?? 0));
  const top = Math.max(...sums);
  return hits
    .map((one, i) => {
      const relative = (sums[i] ?? 0) / top;
      return { ...one, relative, score: sure === null ? one.score : sure * relative };
    })
    .sort((a, b) => b.relative - a.relative);
}

/** By memory, how good the best relation is that came from it, beside the best of all. */
function worthOf(relations: readonly FoundRelation[]): ReadonlyMap<string, number> {
  const top = Math.max(0, ...relations.map(({ score }) => score));
  const worth = new Map<string, number>();
  if (top === 0) return worth;
  for (const { memoryIds, score } of relations)
    for (const id of memoryIds) worth.set(id, Math.max(worth.get(id) ?? 0, score / top));
  return worth;
}

/** What the scores are beside how well hits fit; null: they are something else. */
function sureness(hits: readonly RankedHit[]): number | null {
  const [first] = hits;
  if (first === undefined || first.relative === 0) return null;
  const sure = first.score / first.relative;
  const isShare = hits.every(({ score, relative }) => Math.abs(score - sure * relative) < ROUNDING);
  return isShare ? sure : null;
}

const ROUNDING = 1e-9;
