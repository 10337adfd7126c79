import type { EventKind, MemoryEvent, TenantId } from '@slowwave/engine';

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly memory_id: string;
  readonly revision: number;
  readonly kind: EventKind;
  readonly actor: MemoryEvent['actor'];
  readonly consolidation_id: string | null;
  readonly fact_id: string | null;
  readonly reason: string;
  readonly previous: string | null;
  readonly previous_hash: string | null;
  readonly said_at: number;
  readonly said_seq: number;
  readonly valid_from: number;
  readonly recorded_at: number;
  readonly text: string | null;
  readonly details: string | null;
  readonly source_ids: string;
  readonly under: string | null;
  readonly undo_id: string | null;
  readonly retracts: string | null;
}

export const eventFrom = (row: EventRow): MemoryEvent => ({
  id: row.id,
  memoryId: row.memory_id,
  revision: row.revision,
  kind: row.kind,
  actor: row.actor,
  consolidationId: row.consolidation_id,
  factId: row.fact_id,
  reason: row.reason,
  previous: row.previous,
  ...(row.previous_hash !== null && { previousHash: row.previous_hash }),
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  recordedAt: row.recorded_at,
  text: row.text,
  details: row.details === null ? null : JSON.parse(row.details),
  sourceIds: JSON.parse(row.source_ids),
  ...(row.under !== null && { under: JSON.parse(row.under) }),
  ...retractionFrom(row),
});

const retractionFrom = ({ undo_id, retracts }: EventRow): Pick<MemoryEvent, 'retraction'> =>
  undo_id === null || retracts === null ? {} : { retraction: { undoId: undo_id, retracts: JSON.parse(retracts) } };

/** Its place among all events is given by the ledger. */
export const eventColumns = (event: MemoryEvent, tenant: TenantId) => ({
  id: event.id,
  tenant,
  memory_id: event.memoryId,
  revision: event.revision,
  kind: event.kind,
  actor: event.actor,
  consolidation_id: event.consolidationId,
  fact_id: event.factId,
  reason: event.reason,
  previous: event.previous,
  previous_hash: event.previousHash ?? null,
  said_at: event.saidAt.at,
  said_seq: event.saidAt.seq,
  valid_from: event.validFrom,
  recorded_at: event.recordedAt,
  text: event.text,
  details: event.details === null ? null : JSON.stringify(event.details),
  source_ids: JSON.stringify(event.sourceIds),
  under: event.under === undefined ? null : JSON.stringify(event.under),
  undo_id: event.retraction?.undoId ?? null,
  retracts: event.retraction === undefined ? null : JSON.stringify(event.retraction.retracts),
});
