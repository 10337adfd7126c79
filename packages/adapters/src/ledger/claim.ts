import type { Claim, LaneId, Turn, WindowPolicy } from '@slowwave/engine';
import { asWrite } from './access.ts';
import { claim as take } from './lane-life.ts';
import type { LaneRow } from './rows/lane.ts';
import { ownerFrom, type ScopeColumns, scopeFrom } from './rows/scope.ts';
import { all, first, inOne, run, type Script, together } from './script.ts';
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
  const [head, last] = [pinned[0], pinned.at(-1)];
  if (head === undefined || last === undefined) return { kind: 'stale' };
  const taken = take(yield* recounted(lane, last.position), id);
  yield* inOne(...pinning(lane, { id, pinned, now }), saveLane(taken));
  return {
    kind: 'claimed',
    turn: turnOf(taken, { ...head, batchIds: pinned.map((batch) => batch.id), pinnedAt: now }),
  };
});

/** A batch that waits, as far as its place in a window goes. */
interface WaitingBatch extends ScopeColumns {
  readonly id: string;
  readonly scope: number;
  readonly settings: string;
  readonly tokens: number;
  readonly position: number;
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
  SELECT b.id, b.scope, b.settings, b.tokens, b.position, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM batches b JOIN scopes s ON s.id = b.scope
  WHERE b.lane = @lane AND b.state = 'pending' ORDER BY b.position LIMIT @limit`;

interface Starting {
  readonly id: string;
  readonly pinned: readonly WaitingBatch[];
  readonly now: number;
}

function pinning({ tenant, id: lane }: LaneRow, { id, pinned, now }: Starting): readonly Script<number>[] {
  const ids = pinned.map((batch) => batch.id);
  const scope = pinned[0]?.scope ?? null;
  return [
    run(INSERT_CONSOLIDATION, { id, tenant, lane, scope, batchIds: JSON.stringify(ids), now }),
    run(PIN, { id, ids, now }),
  ];
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
  const taken = take(lane, id);
  const [, window] = yield* together(saveLane(taken), first<WindowRow>(SELECT_WINDOW, { id }));
  if (window === null) throw new Error(`lane ${lane.id} is consolidating, but no batch is pinned`);
  return { kind: 'claimed', turn: turnOf(taken, { ...window, batchIds: JSON.parse(window.batch_ids) }) };
}

/** A pinned window: its consolidation, with the settings of its first batch. */
interface Window extends ScopeColumns {
  readonly settings: string;
  readonly pinnedAt: number;
}

interface WindowRow extends Window {
  readonly batch_ids: string;
}

const SELECT_WINDOW = `
  SELECT c.batch_ids, c.created_at AS "pinnedAt", b.settings, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c
  JOIN batches b ON b.id = c.batch_ids->>0
  JOIN scopes s ON s.id = c.scope
  WHERE c.id = @id`;

/** The turn says when its window was pinned, so that a resumed one asks its model the same question. */
function turnOf(lane: LaneRow, window: Window & { readonly batchIds: readonly string[] }): Turn {
  if (lane.consolidation_id === null) throw new Error(`lane ${lane.id} is taken for no consolidation`);
  return {
    tenant: lane.tenant,
    lane: lane.id,
    owner: ownerFrom(lane),
    generation: lane.generation,
    epoch: lane.epoch,
    consolidationId: lane.consolidation_id,
    scope: scopeFrom(window),
    settings: JSON.parse(window.settings),
    batchIds: window.batchIds,
    attempts: lane.attempts,
    claimedAt: window.pinnedAt,
  };
}
