import type { OutboxEntry } from '@slowwave/engine';
import { entryFrom, type OutboxRow } from '../../../ledger/rows/outbox.ts';
import type { Sql } from '../sql.ts';

/** Oldest first. */
export async function pendingEntries(sql: Sql, limit: number): Promise<readonly OutboxEntry[]> {
  return (await sql.all<OutboxRow>(`${SELECT} ORDER BY seq LIMIT @limit`, { limit })).map(entryFrom);
}

export async function entriesOfMemories(sql: Sql, ids: readonly string[]): Promise<readonly OutboxEntry[]> {
  const rows = await sql.all<OutboxRow>(`${SELECT} WHERE memory_id = ANY(@ids::text[]) ORDER BY seq`, { ids });
  return rows.map(entryFrom);
}

export async function entriesOfConsolidation(sql: Sql, id: string): Promise<readonly OutboxEntry[]> {
  return (await sql.all<OutboxRow>(`${SELECT} WHERE consolidation_id = @id ORDER BY seq`, { id })).map(entryFrom);
}

export async function outboxLength(sql: Sql): Promise<number> {
  return (await sql.get<{ length: number }>('SELECT count(*) AS length FROM outbox'))?.length ?? 0;
}

const SELECT = 'SELECT seq, memory_id, tenant, lane FROM outbox';
