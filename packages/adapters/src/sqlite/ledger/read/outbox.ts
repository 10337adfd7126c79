import type { LaneId, OutboxEntry, TenantId } from '@slowwave/engine';
import type { Sql } from '../sql.ts';

/** Oldest first. */
export function pendingEntries(sql: Sql, limit: number): readonly OutboxEntry[] {
  return sql.all<OutboxRow>(`${SELECT} ORDER BY seq LIMIT @limit`, { limit }).map(entryFrom);
}

export function entriesOfMemories(sql: Sql, memoryIds: readonly string[]): readonly OutboxEntry[] {
  const condition = 'WHERE memory_id IN (SELECT value FROM json_each(@ids)) ORDER BY seq';
  return sql.all<OutboxRow>(`${SELECT} ${condition}`, { ids: JSON.stringify(memoryIds) }).map(entryFrom);
}

export function entriesOfConsolidation(sql: Sql, id: string): readonly OutboxEntry[] {
  return sql.all<OutboxRow>(`${SELECT} WHERE consolidation_id = @id ORDER BY seq`, { id }).map(entryFrom);
}

export function outboxLength(sql: Sql): number {
  return sql.get<{ length: number }>('SELECT count(*) AS length FROM outbox')?.length ?? 0;
}

interface OutboxRow {
  readonly seq: number;
  readonly memory_id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

const entryFrom = (row: OutboxRow): OutboxEntry => ({
  seq: row.seq,
  memoryId: row.memory_id,
  tenant: row.tenant,
  lane: row.lane,
});

const SELECT = 'SELECT seq, memory_id, tenant, lane FROM outbox';
