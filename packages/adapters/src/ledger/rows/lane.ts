import type { Lane, LaneId, Millis, Nudge, TenantId } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom } from './scope.ts';

/** A lane as it is stored. */
export interface LaneRow extends OwnerColumns {
  readonly id: LaneId;
  readonly tenant: TenantId;
  readonly state: Lane['state'];
  readonly generation: number;
  readonly epoch: number;
  /** Whose window is pinned; null unless consolidating. */
  readonly consolidation_id: string | null;
  /** No claim before this; null while idle. */
  readonly due_at: Millis | null;
  readonly paused: 0 | 1;
  /** The erasure that has cut it off from its owner; null while it stands. */
  readonly erasure: string | null;
  readonly next_position: number;
  readonly next_seq: number;
  /** Batches that wait, without the pinned ones. */
  readonly pending: number;
  readonly pending_tokens: number;
  readonly oldest_at: Millis | null;
  readonly newest_at: Millis | null;
  /** Batches up to this position are due at once; 0 when none of those waits. */
  readonly flush_through: number;
  /** How many batches the next window may pin, after a split. */
  readonly window_limit: number | null;
  /** Failed tries of the pinned window. */
  readonly attempts: number;
  readonly created_at: Millis;
  readonly updated_at: Millis;
}

export const laneFrom = (row: LaneRow): Lane => ({
  id: row.id,
  tenant: row.tenant,
  owner: ownerFrom(row),
  state: row.state,
  generation: row.generation,
  epoch: row.epoch,
  pending: row.pending,
  dueAt: row.due_at,
  attempts: row.attempts,
});

/** The turn a lane with work waits for. */
export const nudgeFrom = (row: Pick<LaneRow, 'id' | 'generation' | 'due_at'>): Nudge => ({
  lane: row.id,
  generation: row.generation,
  dueAt: row.due_at ?? 0,
});
