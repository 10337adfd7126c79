import type { LaneId, OutboxEntry } from '@slowwave/engine';
import { entryFrom, type OutboxRow } from '../../../ledger/rows/outbox.ts';
import { notAside } from '../../../ledger/speech.ts';
import type { Sql } from '../sql.ts';

/** Oldest first, without those of lanes that are set aside. */
export function pendingEntries(sql: Sql, limit: number): readonly OutboxEntry[] {
  const condition = `WHERE ${notAside('outbox.lane')} ORDER BY seq LIMIT @limit`;
  return sql.all<OutboxRow>(`${SELECT} ${condition}`, { limit }).map(entryFrom);
}

export function entriesOfLane(sql: Sql, lane: LaneId, limit: number): readonly OutboxEntry[] {
  return sql.all<OutboxRow>(`${SELECT} WHERE lane = @lane ORDER BY seq LIMIT @limit`, { lane, limit }).map(entryFrom);
}

export function entriesOfMemories(sql: Sql, memoryIds: readonly string[]): readonly OutboxEntry[] {
  const condition = 'WHERE memory_id IN (SELECT value FROM json_each(@ids)) ORDER BY seq';
  return sql.all<OutboxRow>(`${SELECT} ${condition}`, { ids: JSON.stringify(memoryIds) }).map(entryFrom);
}

export function entriesOfConsolidation(sql: Sql, id: string): readonly OutboxEntry[] {
  return sql.all<OutboxRow>(`${SELECT} WHERE consolidation_id = @id ORDER BY seq`, { id }).map(entryFrom);
}

/** An entry that the last refill made is still there. */
export const isRefilling = (sql: Sql): boolean => sql.get(FIRST_REFILLED) !== null;

const FIRST_REFILLED = `
  SELECT 1 FROM outbox
  WHERE seq <= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'outbox_refilled_to') LIMIT 1`;

const SELECT = 'SELECT seq, memory_id, tenant, lane FROM outbox';
