import type { LaneId, Review, TenantId } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './scope.ts';

export interface ReviewRow extends ScopeColumns, OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly consolidation_id: string;
  readonly operation: string;
  readonly state: Review['state'];
  readonly note: string | null;
  readonly created_at: number;
  readonly settled_at: number | null;
}

export const reviewFrom = (row: ReviewRow): Review => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  scope: scopeFrom(row),
  consolidationId: row.consolidation_id,
  operation: JSON.parse(row.operation),
  state: row.state,
  note: row.note,
  createdAt: row.created_at,
  settledAt: row.settled_at,
});
