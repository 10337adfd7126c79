import type { Batch, BatchSettings, LaneId, NewBatch, TenantId } from '@slowwave/engine';
import { type ScopeColumns, scopeFrom } from './scope.ts';

export interface BatchRow extends ScopeColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly settings: string;
  readonly metadata: string;
  readonly position: number;
  readonly backfill: 0 | 1;
  readonly state: Batch['state'];
  readonly reached: Batch['stage'];
  readonly attempts: number;
  readonly failure: string | null;
  readonly failures: string;
  readonly consolidation_id: string | null;
  readonly formers: string;
  readonly message_count: number;
  readonly accepted_at: number;
  readonly claimed_at: number | null;
  readonly applied_at: number | null;
  readonly searchable_at: number | null;
}

/** How far the thinking is: what is stored of it says that. */
const REACHED = `
  CASE WHEN b.stage <> 'extract' THEN b.stage
    WHEN EXISTS (SELECT 1 FROM plans p WHERE p.consolidation_id = b.consolidation_id) THEN 'apply'
    WHEN EXISTS (SELECT 1 FROM answers a WHERE a.consolidation_id = b.consolidation_id AND a.step LIKE 'extract%')
      THEN 'decide'
    ELSE 'extract' END AS reached`;

/** Batches with their scope's columns; add a WHERE on `b`. */
export const SELECT_BATCHES = `
  SELECT b.*, s.user_id, s.agent_id, s.run_id, s.app_id, ${REACHED}
  FROM batches b JOIN scopes s ON s.id = b.scope`;

export const batchFrom = (row: BatchRow): Batch => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  scope: scopeFrom(row),
  settings: JSON.parse(row.settings),
  metadata: JSON.parse(row.metadata),
  position: row.position,
  priority: row.backfill === 1 ? 'backfill' : 'live',
  state: row.state,
  stage: row.reached,
  attempts: row.attempts,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  failures: JSON.parse(row.failures),
  consolidationId: row.consolidation_id,
  messageCount: row.message_count,
  acceptedAt: row.accepted_at,
  claimedAt: row.claimed_at,
  appliedAt: row.applied_at,
  searchableAt: row.searchable_at,
});

/** Equal for equal settings only: keys in a fixed order. */
const settingsText = (settings: BatchSettings): string =>
  JSON.stringify({
    mode: settings.mode,
    instructions: settings.instructions,
    includes: settings.includes,
    excludes: settings.excludes,
    expiresAt: settings.expiresAt,
    ...(settings.graph !== undefined && { graph: settings.graph }),
    ...(settings.ownAppOnly && { ownAppOnly: settings.ownAppOnly }),
  } satisfies BatchSettings);

/** A batch as it is accepted, at the end of its lane. */
export const newBatchColumns = (batch: NewBatch, place: { lane: LaneId; scope: number; position: number }) => ({
  id: batch.id,
  tenant: batch.tenant,
  lane: place.lane,
  scope: place.scope,
  settings: settingsText(batch.settings),
  metadata: JSON.stringify(batch.metadata),
  position: place.position,
  tokens: batch.tokens,
  state: 'pending',
  stage: 'waiting',
  attempts: 0,
  message_count: batch.messages.length,
  backfill: batch.priority === 'backfill' ? 1 : 0,
  accepted_at: batch.acceptedAt,
});
