import type { ShownPoint } from '../../ports/search-index.ts';
import type { RelationDetails } from '../points.ts';
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
