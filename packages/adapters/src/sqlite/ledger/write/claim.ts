import type { Claim, LaneId, Turn, WindowPolicy } from '@slowwave/engine';
import { claim as take } from '../../../ledger/lane-life.ts';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { ownerFrom, type ScopeColumns, scopeFrom } from '../../../ledger/rows/scope.ts';
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
  if (lane === null || lane.paused === 1 || lane.state === 'idle') return { kind: 'stale' };
  if (lane.generation !== job.generation) return { kind: 'stale' };
  if (lane.due_at !== null && lane.due_at > now) return { kind: 'not_due', dueAt: lane.due_at };
  if (lane.consolidation_id !== null) return resume(sql, lane, lane.consolidation_id);
  const pinned = pinWindow(sql, lane, window);
  if (pinned.length === 0) return { kind: 'stale' };
  startConsolidation(sql, lane, { id: newConsolidationId, pinned, now });
  return claimed(sql, recounted(sql, take(lane, newConsolidationId)));
}

/** The longest prefix of what waits with one scope and one settings, within the limits; always at least one batch. */
function pinWindow(sql: Sql, lane: LaneRow, window: WindowPolicy): readonly WaitingBatch[] {
  const limit = Math.max(1, Math.min(window.maxBatches, lane.window_limit ?? window.maxBatches));
  const waiting = sql.all<WaitingBatch>(SELECT_WAITING, { lane: lane.id, limit });
  const [first] = waiting;
  let tokens = 0;
  const end = waiting.findIndex((batch, i) => {
    tokens += batch.tokens;
    return i > 0 && (tokens > window.maxTokens || batch.scope !== first?.scope || batch.settings !== first.settings);
  });
  return end === -1 ? waiting : waiting.slice(0, end);
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
  return { kind: 'claimed', turn: turnOf(sql, lane) };
}

/** The turn says when its window was pinned, so that a resumed one asks its model the same question. */
function turnOf(sql: Sql, lane: LaneRow): Turn {
  const window = sql.get<WindowRow>(SELECT_WINDOW, { id: lane.consolidation_id });
  if (window === null) throw new Error(`lane ${lane.id} is consolidating, but no batch is pinned`);
  return {
    tenant: lane.tenant,
    lane: lane.id,
    owner: ownerFrom(lane),
    generation: lane.generation,
    epoch: lane.epoch,
    consolidationId: window.id,
    scope: scopeFrom(window),
    settings: JSON.parse(window.settings),
    batchIds: JSON.parse(window.batch_ids),
    attempts: lane.attempts,
    claimedAt: window.created_at,
  };
}

interface WaitingBatch {
  readonly id: string;
  readonly scope: number;
  readonly settings: string;
  readonly tokens: number;
}

interface WindowRow extends ScopeColumns {
  readonly id: string;
  readonly batch_ids: string;
  readonly settings: string;
  readonly created_at: number;
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
