import type { LaneId, MemoryEvent, Millis, Page, Paged, TenantId, Touched, Undo } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { isStanding, laneOfUser, newestFirst, where } from '../../../ledger/page.ts';
import { type EventRow, eventFrom } from '../../../ledger/rows/event.ts';
import { SELECT_UNDOS, type UndoRow, undoFrom } from '../../../ledger/rows/undo.ts';
import type { Sql } from '../sql.ts';

export function getUndo(sql: Sql, tenant: TenantId, id: string): Undo | null {
  const row = sql.get<UndoRow>(`${SELECT_UNDOS} WHERE u.tenant = @tenant AND u.id = @id AND ${isStanding('u.lane')}`, {
    tenant,
    id,
  });
  return row === null ? null : undoFrom(row);
}

export function listUndos(
  sql: Sql,
  { tenant, filter, page }: { tenant: TenantId; filter: { userId?: string }; page: Page },
): Paged<Undo> {
  const { userId = null } = filter;
  const newest = newestFirst(page, 'u.at', 'u.id');
  const conditions = where([
    'u.tenant = @tenant',
    isStanding('u.lane'),
    userId === null ? null : laneOfUser('u.lane'),
    newest.condition,
  ]);
  const rows = sql.all<UndoRow>(`${SELECT_UNDOS} ${conditions} ${newest.order}`, { tenant, userId, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.at, row.id]);
  return { results: results.map(undoFrom), nextCursor };
}

/** Oldest first. */
export const undosOfLane = (sql: Sql, lane: LaneId): readonly Undo[] =>
  sql.all<UndoRow>(`${SELECT_UNDOS} WHERE u.lane = @lane ORDER BY u.number`, { lane }).map(undoFrom);

export function touchedMemories(sql: Sql, tenant: TenantId, by: Touched): readonly string[] {
  return touching(sql, tenant, by).map((row) => row.memory_id);
}

function touching(sql: Sql, tenant: TenantId, by: Touched): readonly { memory_id: string }[] {
  if ('consolidations' in by) return sql.all(BY_CONSOLIDATIONS, { tenant, ids: JSON.stringify(by.consolidations) });
  if ('undo' in by) return sql.all(BY_UNDO, { tenant, undo: by.undo });
  return sql.all(BY_TIME, { tenant, lane: by.lane, after: by.after });
}

export const eventsOfMemories = (sql: Sql, tenant: TenantId, memoryIds: readonly string[]): readonly MemoryEvent[] =>
  sql.all<EventRow>(SELECT_EVENTS, { tenant, ids: JSON.stringify(memoryIds) }).map(eventFrom);

export const appliedAfter = (sql: Sql, lane: LaneId, after: Millis): readonly string[] =>
  sql.all<{ id: string }>(APPLIED_AFTER, { lane, after }).map((row) => row.id);

const BY_CONSOLIDATIONS = `
  SELECT DISTINCT memory_id FROM events
  WHERE tenant = @tenant AND consolidation_id IN (SELECT value FROM json_each(@ids))`;

const BY_UNDO = 'SELECT DISTINCT memory_id FROM events WHERE tenant = @tenant AND undo_id = @undo';

const BY_TIME = `
  SELECT DISTINCT e.memory_id FROM memories m JOIN events e ON e.memory_id = m.id
  WHERE m.tenant = @tenant AND m.lane = @lane AND e.recorded_at > @after`;

const SELECT_EVENTS = `
  SELECT * FROM events WHERE tenant = @tenant AND memory_id IN (SELECT value FROM json_each(@ids))
  ORDER BY memory_id, revision`;

const APPLIED_AFTER = `
  SELECT id FROM consolidations WHERE lane = @lane AND applied_at > @after ORDER BY applied_at, id`;
