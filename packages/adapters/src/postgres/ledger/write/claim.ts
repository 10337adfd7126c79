import type { Claim, LaneId, WindowPolicy } from '@slowwave/engine';
import { claim as take } from '../../../ledger/lane-life.ts';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { turnOf, type WaitingBatch, type WindowRow, windowLimit, windowOf } from '../../../ledger/turn.ts';
import type { Sql } from '../sql.ts';
import { lockLane, recounted, saveLanes } from './lanes.ts';

export interface ClaimInput {
  readonly job: { readonly lane: LaneId; readonly generation: number };
  readonly now: number;
  readonly window: WindowPolicy;
  readonly newConsolidationId: string;
}

/**
 * Takes a due lane: pins a window, or takes over the one that is pinned. Waits for whoever holds the lane (an append,
 * another claim): to skip it would drop the turn, and they are done within milliseconds.
 */
export async function claim(sql: Sql, { job, now, window, newConsolidationId }: ClaimInput): Promise<Claim> {
  const lane = await lockLane(sql, job.lane);
  if (lane === null || lane.erasure !== null || lane.paused === 1 || lane.state === 'idle') return { kind: 'stale' };
  if (lane.generation !== job.generation) return { kind: 'stale' };
  if (lane.due_at !== null && lane.due_at > now) return { kind: 'not_due', dueAt: lane.due_at };
  if (lane.consolidation_id !== null) return resume(sql, lane, lane.consolidation_id);
  const limit = windowLimit(lane, window);
  const pinned = windowOf(await sql.all<WaitingBatch>(SELECT_WAITING, { lane: lane.id, limit }), window);
  if (pinned.length === 0) return { kind: 'stale' };
  await startConsolidation(sql, lane, { id: newConsolidationId, pinned, now });
  return claimed(sql, await recounted(sql, take(lane, newConsolidationId)));
}

async function startConsolidation(
  sql: Sql,
  lane: LaneRow,
  { id, pinned, now }: { id: string; pinned: readonly WaitingBatch[]; now: number },
): Promise<void> {
  const ids = pinned.map((batch) => batch.id);
  const scope = pinned[0]?.scope ?? null;
  const batchIds = JSON.stringify(ids);
  await sql.run(INSERT_CONSOLIDATION, { id, tenant: lane.tenant, lane: lane.id, scope, batchIds, now });
  await sql.run(PIN, { id, ids, now });
}

/** The same window under a new epoch; what was stored of it is kept. */
async function resume(sql: Sql, lane: LaneRow, id: string): Promise<Claim> {
  await sql.run(RESUME, { id });
  return claimed(sql, take(lane, id));
}

async function claimed(sql: Sql, lane: LaneRow): Promise<Claim> {
  await saveLanes(sql, [lane]);
  const turn = turnOf(lane, await sql.get<WindowRow>(SELECT_WINDOW, { id: lane.consolidation_id }));
  return { kind: 'claimed', turn };
}

const SELECT_WAITING = `
  SELECT id, scope, settings, tokens FROM batches
  WHERE lane = @lane AND state = 'pending' ORDER BY position LIMIT @limit`;

const INSERT_CONSOLIDATION = `
  INSERT INTO consolidations (id, tenant, lane, scope, state, batch_ids, attempts, created_at, summary)
  SELECT @id, @tenant, @lane, s.id, 'thinking', @batchIds::jsonb, 0, @now, s.summary FROM scopes s WHERE s.id = @scope`;

const PIN = `
  UPDATE batches SET state = 'consolidating', stage = 'extract', claimed_at = @now, consolidation_id = @id
  WHERE id = ANY(@ids::text[])`;

const RESUME = `
  UPDATE consolidations SET state =
    CASE WHEN EXISTS (SELECT 1 FROM plans WHERE consolidation_id = @id) THEN 'planned' ELSE 'thinking' END
  WHERE id = @id`;

const SELECT_WINDOW = `
  SELECT c.id, c.batch_ids, c.created_at, b.settings, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c
  JOIN batches b ON b.id = c.batch_ids->>0
  JOIN scopes s ON s.id = c.scope
  WHERE c.id = @id`;
