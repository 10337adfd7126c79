import type { Claim, LaneId, Turn, WindowPolicy } from '@slowwave/engine';
import { asWrite } from './access.ts';
import { claim as take } from './lane-life.ts';
import type { LaneRow } from './rows/lane.ts';
import { ownerFrom, type ScopeColumns, scopeFrom } from './rows/scope.ts';
import { all, first, run, type Script, together } from './script.ts';
import { lockLane, recounted, saveLane } from './turn.ts';

interface ClaimInput {
  readonly job: { readonly lane: LaneId; readonly generation: number };
  readonly now: number;
  readonly window: WindowPolicy;
  readonly newConsolidationId: string;
}

/**
 * Takes a due lane: pins a window, or takes over the one that is pinned. Waits for whoever holds the lane (an append,
 * another claim): to skip it would drop the turn, and they are done within milliseconds.
 */
export const claim = asWrite('lanes.claim', function* (input: ClaimInput): Script<Claim> {
  const { job, now, window, newConsolidationId: id } = input;
  const lane = yield* lockLane(job.lane);
  if (lane === null || lane.erasure !== null || lane.paused === 1 || lane.state === 'idle') return { kind: 'stale' };
  if (lane.generation !== job.generation) return { kind: 'stale' };
  if (lane.due_at !== null && lane.due_at > now) return { kind: 'not_due', dueAt: lane.due_at };
  if (lane.consolidation_id !== null) return yield* resume(lane, lane.consolidation_id);
  const limit = windowLimit(lane, window);
  const pinned = windowOf(yield* all<WaitingBatch>(SELECT_WAITING, { lane: lane.id, limit }), window);
  if (pinned.length === 0) return { kind: 'stale' };
  yield* startConsolidation(lane, { id, pinned, now });
  return yield* claimed(yield* recounted(take(lane, id)));
});

/** A batch that waits, as far as its place in a window goes. */
interface WaitingBatch {
  readonly id: string;
  readonly scope: number;
  readonly settings: string;
  readonly tokens: number;
}

/** How many batches a window may pin at most. */
const windowLimit = (lane: LaneRow, window: WindowPolicy): number =>
  Math.max(1, Math.min(window.maxBatches, lane.window_limit ?? window.maxBatches));

/** The longest prefix of what waits with one scope and one settings, within the limits; always at least one batch. */
function windowOf(waiting: readonly WaitingBatch[], window: WindowPolicy): readonly WaitingBatch[] {
  const [first] = waiting;
  let tokens = 0;
  const end = waiting.findIndex((batch, i) => {
    tokens += batch.tokens;
    return i > 0 && (tokens > window.maxTokens || batch.scope !== first?.scope || batch.settings !== first.settings);
  });
  return end === -1 ? waiting : waiting.slice(0, end);
}

const SELECT_WAITING = `
  SELECT id, scope, settings, tokens FROM batches
  WHERE lane = @lane AND state = 'pending' ORDER BY position LIMIT @limit`;

interface Starting {
  readonly id: string;
  readonly pinned: readonly WaitingBatch[];
  readonly now: number;
}

function* startConsolidation({ tenant, id: lane }: LaneRow, { id, pinned, now }: Starting): Script<void> {
  const ids = pinned.map((batch) => batch.id);
  const scope = pinned[0]?.scope ?? null;
  yield* together(
    run(INSERT_CONSOLIDATION, { id, tenant, lane, scope, batchIds: JSON.stringify(ids), now }),
    run(PIN, { id, ids, now }),
  );
}

const INSERT_CONSOLIDATION = `
  INSERT INTO consolidations (id, tenant, lane, scope, state, batch_ids, attempts, created_at, summary)
  SELECT @id, @tenant, @lane, s.id, 'thinking', @batchIds::jsonb, 0, @now, s.summary FROM scopes s WHERE s.id = @scope`;

const PIN = `
  UPDATE batches SET state = 'consolidating', stage = 'extract', claimed_at = @now, consolidation_id = @id
  WHERE id IN :ids`;

/** The same window under a new epoch; what was stored of it is kept. */
function* resume(lane: LaneRow, id: string): Script<Claim> {
  yield* run(
    `UPDATE consolidations SET state =
       CASE WHEN EXISTS (SELECT 1 FROM plans WHERE consolidation_id = @id) THEN 'planned' ELSE 'thinking' END
     WHERE id = @id`,
    { id },
  );
  return yield* claimed(take(lane, id));
}

function* claimed(lane: LaneRow): Script<Claim> {
  const [, window] = yield* together(saveLane(lane), first<WindowRow>(SELECT_WINDOW, { id: lane.consolidation_id }));
  return { kind: 'claimed', turn: turnOf(lane, window) };
}

/** A pinned window: its consolidation, with the settings of its first batch. */
interface WindowRow extends ScopeColumns {
  readonly id: string;
  readonly batch_ids: string;
  readonly settings: string;
  readonly created_at: number;
}

const SELECT_WINDOW = `
  SELECT c.id, c.batch_ids, c.created_at, b.settings, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c
  JOIN batches b ON b.id = c.batch_ids->>0
  JOIN scopes s ON s.id = c.scope
  WHERE c.id = @id`;

/** The turn says when its window was pinned, so that a resumed one asks its model the same question. */
function turnOf(lane: LaneRow, window: WindowRow | null): Turn {
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
