import type { Claim, LaneId, WindowPolicy } from '@slowwave/engine';
import { claim as take } from '../../../ledger/lane-life.ts';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { turnOf, type WaitingBatch, type WindowRow, windowLimit, windowOf } from '../../../ledger/turn.ts';
import type { Sql } from '../sql.ts';
import { loadLane, recounted, saveLane } from './lanes.ts';

export interface ClaimInput {
  readonly job: { readonly lane: LaneId; readonly generation: number };
  readonly now: number;
  readonly window: WindowPolicy;
  readonly newConsolidationId: string;
}

/** Takes a due lane: pins a window, or takes over the one that is pinned. */
export function claim(sql: Sql, { job, now, window, newConsolidationId }: ClaimInput): Claim {
  const lane = loadLane(sql, job.lane);
  if (lane === null || lane.erasure !== null || lane.paused === 1 || lane.state === 'idle') return { kind: 'stale' };
  if (lane.generation !== job.generation) return { kind: 'stale' };
  if (lane.due_at !== null && lane.due_at > now) return { kind: 'not_due', dueAt: lane.due_at };
  if (lane.consolidation_id !== null) return resume(sql, lane, lane.consolidation_id);
  const pinned = pinWindow(sql, lane, window);
  if (pinned.length === 0) return { kind: 'stale' };
  startConsolidation(sql, lane, { id: newConsolidationId, pinned, now });
  return claimed(sql, recounted(sql, take(lane, newConsolidationId)));
}

/** The batches the next window pins: always at least one, where any waits. */
function pinWindow(sql: Sql, lane: LaneRow, window: WindowPolicy): readonly WaitingBatch[] {
  const limit = windowLimit(lane, window);
  return windowOf(sql.all<WaitingBatch>(SELECT_WAITING, { lane: lane.id, limit }), window);
}

function startConsolidation(
  sql: Sql,
  lane: LaneRow,
  { id, pinned, now }: { id: string; pinned: readonly WaitingBatch[]; now: number },
): void {
  const batchIds = JSON.stringify(pinned.map((batch) => batch.id));
  const scope = pinned[0]?.scope ?? null;
  sql.run(INSERT_CONSOLIDATION, { id, tenant: lane.tenant, lane: lane.id, scope, batchIds, now });
  sql.run(PIN, { id, batchIds, now });
}

/** The same window under a new epoch; what was stored of it is kept. */
function resume(sql: Sql, lane: LaneRow, id: string): Claim {
  sql.run(RESUME, { id });
  return claimed(sql, take(lane, id));
}

function claimed(sql: Sql, lane: LaneRow): Claim {
  saveLane(sql, lane);
  const turn = turnOf(lane, sql.get<WindowRow>(SELECT_WINDOW, { id: lane.consolidation_id }));
  return { kind: 'claimed', turn };
}

const SELECT_WAITING = `
  SELECT id, scope, settings, tokens FROM batches
  WHERE lane = @lane AND state = 'pending' ORDER BY position LIMIT @limit`;

const INSERT_CONSOLIDATION = `
  INSERT INTO consolidations (id, tenant, lane, scope, state, batch_ids, attempts, created_at, summary)
  VALUES (
    @id, @tenant, @lane, @scope, 'thinking', @batchIds, 0, @now, (SELECT summary FROM scopes WHERE id = @scope)
  )`;

const PIN = `
  UPDATE batches SET state = 'consolidating', stage = 'extract', claimed_at = @now, consolidation_id = @id
  WHERE id IN (SELECT value FROM json_each(@batchIds))`;

const RESUME = `
  UPDATE consolidations SET state =
    CASE WHEN EXISTS (SELECT 1 FROM plans WHERE consolidation_id = @id) THEN 'planned' ELSE 'thinking' END
  WHERE id = @id`;

const SELECT_WINDOW = `
  SELECT c.id, c.batch_ids, c.created_at, b.settings, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c
  JOIN batches b ON b.id = json_extract(c.batch_ids, '$[0]')
  JOIN scopes s ON s.id = c.scope
  WHERE c.id = @id`;
