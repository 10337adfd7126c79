import type { Batch, BatchState, MemoryEvent, Page, Paged, ParkedFilter, TenantId } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { isStanding, laneOfUser, newestFirst, where } from '../../../ledger/page.ts';
import { type BatchRow, batchFrom, SELECT_BATCHES } from '../../../ledger/rows/batch.ts';
import { type EventRow, eventFrom } from '../../../ledger/rows/event.ts';
import type { Sql } from '../sql.ts';

export function getBatch(sql: Sql, tenant: TenantId, id: string): Batch | null {
  const row = sql.get<BatchRow>(
    `${SELECT_BATCHES} WHERE b.tenant = @tenant AND b.id = @id AND ${isStanding('b.lane')}`,
    { tenant, id },
  );
  return row === null ? null : batchFrom(row);
}

export interface BatchFilter {
  readonly state?: BatchState;
  readonly userId?: string;
  readonly since?: number;
}

export function listBatches(
  sql: Sql,
  { tenant, filter, page }: { tenant: TenantId; filter: BatchFilter; page: Page },
): Paged<Batch> {
  const newest = newestFirst(page, 'b.accepted_at', 'b.id');
  const conditions = where([
    'b.tenant = @tenant',
    isStanding('b.lane'),
    filter.state === undefined ? null : 'b.state = @state',
    filter.userId === undefined ? null : laneOfUser('b.lane'),
    filter.since === undefined ? null : 'b.accepted_at >= @since',
    newest.condition,
  ]);
  const { state = null, userId = null, since = null } = filter;
  const params = { tenant, state, userId, since, ...newest.params };
  const rows = sql.all<BatchRow>(`${SELECT_BATCHES} ${conditions} ${newest.order}`, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.accepted_at, row.id]);
  return { results: results.map(batchFrom), nextCursor };
}

/** Oldest first. */
export function parkedBatches(
  sql: Sql,
  { tenant, filter, limit }: { tenant: TenantId; filter: ParkedFilter; limit: number },
): readonly Batch[] {
  const { ids, lane = null, userId = null, errorCode = null, since = null } = filter;
  const conditions = where([
    "b.tenant = @tenant AND b.state = 'parked'",
    isStanding('b.lane'),
    ids === undefined ? null : 'b.id IN (SELECT value FROM json_each(@ids))',
    lane === null ? null : 'b.lane = @lane',
    userId === null ? null : laneOfUser('b.lane'),
    errorCode === null ? null : "json_extract(b.failure, '$.code') = @errorCode",
    since === null ? null : 'b.accepted_at >= @since',
  ]);
  const params = { tenant, ids: JSON.stringify(ids ?? []), lane, userId, errorCode, since, limit };
  const order = 'ORDER BY b.accepted_at, b.position, b.id LIMIT @limit';
  return sql.all<BatchRow>(`${SELECT_BATCHES} ${conditions} ${order}`, params).map(batchFrom);
}

/** The events that name one of its messages as a source, oldest first. */
export function eventsOfBatch(sql: Sql, tenant: TenantId, id: string): readonly MemoryEvent[] {
  return sql.all<EventRow>(SELECT_EVENTS, { tenant, id }).map(eventFrom);
}

const SELECT_EVENTS = `
  SELECT DISTINCT e.* FROM messages m
  JOIN event_sources s ON s.message_id = m.id
  JOIN events e ON e.seq = s.event_seq
  WHERE m.tenant = @tenant AND m.batch_id = @id AND ${isStanding('m.lane')} AND e.tenant = @tenant
  ORDER BY e.seq`;
