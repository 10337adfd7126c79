import type { Batch, BatchState, LaneId, Life, Page, Paged, Replay, ReplayFilter, TenantId } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { loadMemories } from '../../../ledger/memories.ts';
import { newestFirst, where } from '../../../ledger/page.ts';
import { type BatchRow, batchFrom, SELECT_BATCHES } from '../../../ledger/rows/batch.ts';
import { type EventRow, eventFrom } from '../../../ledger/rows/event.ts';
import { filterConditions, type ReplayRow, replayFrom } from '../../../ledger/rows/replay.ts';
import { runScript } from '../script.ts';
import type { Params, Sql } from '../sql.ts';

export function getReplay(sql: Sql, tenant: TenantId, id: string): Replay | null {
  const row = sql.get<ReplayRow>('SELECT * FROM replays WHERE tenant = @tenant AND id = @id', { tenant, id });
  return row === null ? null : replayFrom(row);
}

export function listReplays(sql: Sql, { tenant, page }: { tenant: TenantId; page: Page }): Paged<Replay> {
  const newest = newestFirst(page, 'created_at', 'id');
  const conditions = where(['tenant = @tenant', newest.condition]);
  const rows = sql.all<ReplayRow>(`SELECT * FROM replays ${conditions} ${newest.order}`, { tenant, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(replayFrom), nextCursor };
}

/** How many batches match, and the first of them, oldest first. */
export function matchBatches(
  sql: Sql,
  { tenant, filter, limit }: { tenant: TenantId; filter: ReplayFilter; limit: number },
): { matched: number; batches: readonly Batch[] } {
  const { conditions, params } = whereMatches({ tenant, filter });
  const counted = sql.get<{ matched: number }>(
    `SELECT count(*) AS matched FROM batches b ${where(conditions)}`,
    params,
  );
  const text = `${SELECT_BATCHES} ${where(conditions)} ${OLDEST_FIRST}`;
  const batches = sql.all<BatchRow>(text, { ...params, limit }).map(batchFrom);
  return { matched: counted?.matched ?? 0, batches };
}

/** Which batches a filter means: conditions on b (batches). */
export function whereMatches({ tenant, filter }: { tenant: TenantId; filter: ReplayFilter }): {
  conditions: readonly (string | null)[];
  params: Params;
} {
  const { conditions, params } = filterConditions(filter);
  return {
    conditions: [
      ...conditions.map((one) => (one === null || filter.ids === undefined ? one : `+${one}`)), // found by its id
      'b.state IN (SELECT value FROM json_each(@states))',
      filter.ids === undefined ? null : 'b.id IN (SELECT value FROM json_each(@ids))',
      filter.errorCode === undefined ? null : "json_extract(b.failure, '$.code') = @errorCode",
    ],
    params: { ...params, tenant, states: JSON.stringify(filter.states), ids: JSON.stringify(filter.ids ?? []) },
  };
}

export function batchesOfReplay(sql: Sql, id: string, limit: number): readonly Batch[] {
  const text = `${SELECT_BATCHES} JOIN replay_batches r ON r.batch_id = b.id WHERE r.replay_id = @id ${OLDEST_FIRST}`;
  return sql.all<BatchRow>(text, { id, limit }).map(batchFrom);
}

export function statesOfReplay(sql: Sql, id: string): Readonly<Partial<Record<BatchState, number>>> {
  const rows = sql.all<{ state: BatchState; batches: number }>(COUNT_STATES, { id });
  return Object.fromEntries(rows.map((row) => [row.state, row.batches]));
}

/** Memories of a lane with what was recorded of them before a moment. */
export function livesOf(
  sql: Sql,
  { lane, before, after, limit }: { lane: LaneId; before: number; after: string | null; limit: number },
): readonly Life[] {
  const condition = 'WHERE m.lane = @lane AND m.created_at < @before AND m.id > @after';
  const memories = runScript(sql, loadMemories(condition, { lane, before, after: after ?? '', limit }));
  const ids = JSON.stringify(memories.map((memory) => memory.id));
  const events = Map.groupBy(sql.all<EventRow>(SELECT_EVENTS, { ids, before }), (row) => row.memory_id);
  return memories.map((memory) => ({ memory, events: (events.get(memory.id) ?? []).map(eventFrom) }));
}

const OLDEST_FIRST = 'ORDER BY b.accepted_at, b.id LIMIT @limit';

const COUNT_STATES = `
  SELECT b.state, count(*) AS batches FROM replay_batches r JOIN batches b ON b.id = r.batch_id
  WHERE r.replay_id = @id GROUP BY b.state`;

const SELECT_EVENTS = `
  SELECT * FROM events WHERE memory_id IN (SELECT value FROM json_each(@ids)) AND recorded_at < @before
  ORDER BY memory_id, revision`;
