import type { LaneId, OutboxEntry, TenantId } from '@slowwave/engine';

export interface OutboxRow {
  readonly seq: number;
  readonly memory_id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

export const entryFrom = (row: OutboxRow): OutboxEntry => ({
  seq: row.seq,
  memoryId: row.memory_id,
  tenant: row.tenant,
  lane: row.lane,
});
