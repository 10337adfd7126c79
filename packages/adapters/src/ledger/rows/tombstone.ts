import type { Tombstone } from '@slowwave/engine';

export interface TombstoneRow {
  readonly memory_id: string;
  readonly text_hash: string;
  readonly deleted_at: number;
  readonly deleted_seq: number;
}

export const tombstoneFrom = (row: TombstoneRow): Tombstone => ({
  memoryId: row.memory_id,
  textHash: row.text_hash,
  deletedAt: { at: row.deleted_at, seq: row.deleted_seq },
});
