import type { MemoryEvent } from '@slowwave/engine';

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly memory_id: string;
  readonly revision: number;
  readonly kind: MemoryEvent['kind'];
  readonly actor: MemoryEvent['actor'];
  readonly consolidation_id: string | null;
  readonly fact_id: string | null;
  readonly reason: string;
  readonly previous: string | null;
  readonly said_at: number;
  readonly said_seq: number;
  readonly valid_from: number;
  readonly recorded_at: number;
  readonly text: string | null;
  readonly details: string | null;
  readonly source_ids: string;
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
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  recordedAt: row.recorded_at,
  text: row.text,
  details: row.details === null ? null : JSON.parse(row.details),
  sourceIds: JSON.parse(row.source_ids),
});
