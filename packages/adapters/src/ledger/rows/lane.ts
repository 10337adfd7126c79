import type { Lane, LaneId, Millis, Nudge, Pause, Priority, TenantId } from '@slowwave/engine';
import { pausedAtOf } from '@slowwave/engine/storing';
import { type OwnerColumns, ownerFrom } from './columns.ts';

/** A lane as it is stored. */
export interface LaneRow extends OwnerColumns {
  readonly number: number;
  readonly id: LaneId;
  readonly tenant: TenantId;
  readonly state: Lane['state'];
  readonly generation: number;
  readonly epoch: number;
  /** Whose window is pinned; null unless consolidating. */
  readonly consolidation_id: string | null;
  /** No claim before this; null while idle. */
  readonly due_at: Millis | null;
  /** The erasure that has cut it off from its owner; null while it stands. */
  readonly erasure: string | null;
  readonly next_position: number;
  readonly next_seq: number;
  /** Batches that wait, without the pinned ones. */
  readonly pending: number;
  readonly pending_tokens: number;
  readonly pending_exchanges: number;
  /** Those of them that are backfill. */
  readonly pending_backfill: number;
  /** Whether the job of this generation was to run behind all that is live. */
  readonly nudged_backfill: 0 | 1;
  readonly oldest_at: Millis | null;
  /** While none waits, of the last that did; null: there was none. */
  readonly newest_at: Millis | null;
  /** How long its owner usually lets pass before saying something; null: nobody knows yet. */
  readonly pace_ms: Millis | null;
  /** When its owner wanted nothing remembered, as JSON; null: never. */
  readonly pauses: string | null;
  /** Batches up to this position are due at once; 0 when none of those waits. */
  readonly flush_through: number;
  /** How many batches the next window may pin, after a split. */
  readonly window_limit: number | null;
  /** Failed tries of the pinned window. */
  readonly attempts: number;
  /** The canary for whose undo no turn is claimed; null: turns are. */
  readonly held: string | null;
  /** Up to this position batches are consolidated in the windows that they had before they were undone. */
  readonly kept_windows: number;
  /** The segment that has all of it while its owner sleeps; null: this ledger has. */
  readonly cold: string | null;
  /** When its owner woke last; null: it never slept. */
  readonly woken_at: Millis | null;
  /** No work of the owner begins before this. */
  readonly leaving_until: Millis;
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
  lastMessage: row.next_seq - 1,
  pausedAt: pausedAtOf(pausesFrom(row)),
  cold: row.cold,
});

export const pausesFrom = ({ pauses }: Pick<LaneRow, 'pauses'>): readonly Pause[] =>
  pauses === null ? [] : JSON.parse(pauses);

/** What names the turn a lane with work waits for. */
export const NUDGE_COLUMNS = 'id, tenant, state, generation, due_at, pending, pending_backfill, nudged_backfill';
export type NudgeRow = Pick<
  LaneRow,
  'id' | 'tenant' | 'state' | 'generation' | 'due_at' | 'pending' | 'pending_backfill' | 'nudged_backfill'
>;

/** The turn a lane with work waits for. */
export const nudgeFrom = (row: NudgeRow): Nudge => ({
  lane: row.id,
  tenant: row.tenant,
  generation: row.generation,
  priority: priorityOf(row),
  dueAt: row.due_at ?? 0,
});

/** Live as soon as one live batch waits. A pinned window stays what it was when it was taken. */
export function priorityOf(row: NudgeRow): Priority {
  if (row.pending > row.pending_backfill) return 'live';
  const live = row.state === 'consolidating' && row.nudged_backfill === 0;
  return live ? 'live' : 'backfill';
}
