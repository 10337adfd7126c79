import type { LaneId, OutboxEntry } from '@slowwave/engine';
import { entryFrom, type OutboxRow } from '../../../ledger/rows/outbox.ts';
import { notAside } from '../../../ledger/speech.ts';
import type { Sql } from '../sql.ts';

/** Oldest first, without those of lanes that are set aside. */
export async function pendingEntries(sql: Sql, limit: number): Promise<readonly OutboxEntry[]> {
  const condition = `WHERE ${notAside('outbox.lane')} ORDER BY seq LIMIT @limit`;
  return (await sql.all<OutboxRow>(`${SELECT} ${condition}`, { limit })).map(entryFrom);
}

export async function entriesOfLane(sql: Sql, lane: LaneId, limit: number): Promise<readonly OutboxEntry[]> {
  const rows = await sql.all<OutboxRow>(`${SELECT} WHERE lane = @lane ORDER BY seq LIMIT @limit`, { lane, limit });
  return rows.map(entryFrom);
}

export async function entriesOfMemories(sql: Sql, ids: readonly string[]): Promise<readonly OutboxEntry[]> {
  const rows = await sql.all<OutboxRow>(`${SELECT} WHERE memory_id = ANY(@ids::text[]) ORDER BY seq`, { ids });
  return rows.map(entryFrom);
}

export async function entriesOfConsolidation(sql: Sql, id: string): Promise<readonly OutboxEntry[]> {
  return (await sql.all<OutboxRow>(`${SELECT} WHERE consolidation_id = @id ORDER BY seq`, { id })).map(entryFrom);
}

/** An entry that the last refill made is still there. */
export async function isRefilling(sql: Sql): Promise<boolean> {
  return (await sql.get(FIRST_REFILLED)) !== null;
}

const FIRST_REFILLED = `
  SELECT 1 AS found FROM outbox
  WHERE seq <= (SELECT value::bigint FROM meta WHERE key = 'outbox_refilled_to') LIMIT 1`;

const SELECT = 'SELECT seq, memory_id, tenant, lane FROM outbox';
