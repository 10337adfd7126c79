import type { LaneId, MemoryChange, Turn, WindowPolicy } from '@slowwave/engine';
import type { LaneRow } from './rows/lane.ts';
import { ownerFrom, type ScopeColumns, scopeFrom } from './rows/scope.ts';
import { all, first, type Script } from './script.ts';

/** A batch that waits, as far as its place in a window goes. */
export interface WaitingBatch {
  readonly id: string;
  readonly scope: number;
  readonly settings: string;
  readonly tokens: number;
}

/** How many batches a window may pin at most. */
export const windowLimit = (lane: LaneRow, window: WindowPolicy): number =>
  Math.max(1, Math.min(window.maxBatches, lane.window_limit ?? window.maxBatches));

/** The longest prefix of what waits with one scope and one settings, within the limits; always at least one batch. */
export function windowOf(waiting: readonly WaitingBatch[], window: WindowPolicy): readonly WaitingBatch[] {
  const [first] = waiting;
  let tokens = 0;
  const end = waiting.findIndex((batch, i) => {
    tokens += batch.tokens;
    return i > 0 && (tokens > window.maxTokens || batch.scope !== first?.scope || batch.settings !== first.settings);
  });
  return end === -1 ? waiting : waiting.slice(0, end);
}

/** A pinned window: its consolidation, with the settings of its first batch. */
export interface WindowRow extends ScopeColumns {
  readonly id: string;
  readonly batch_ids: string;
  readonly settings: string;
  readonly created_at: number;
}

/** The turn says when its window was pinned, so that a resumed one asks its model the same question. */
export function turnOf(lane: LaneRow, window: WindowRow | null): Turn {
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

/** The turn's lane; null when a later claim has taken it. */
export function heldBy(turn: Turn, lane: LaneRow | null): LaneRow | null {
  const holds =
    lane !== null &&
    lane.tenant === turn.tenant &&
    lane.epoch === turn.epoch &&
    lane.consolidation_id === turn.consolidationId;
  return holds ? lane : null;
}

/**
 * A lane, locked until the end of the transaction: by whoever changes it, its batches or its memories. Of several lanes
 * in the order of their ids, so that nobody waits in a circle. Rows may refer to the lane meanwhile.
 */
export const lockLane = (id: LaneId): Script<LaneRow | null> =>
  first<LaneRow>('SELECT * FROM lanes WHERE id = @id FOR NO KEY UPDATE', { id });

/** Lanes, locked in the order of their ids. */
export const lockLanes = (ids: Iterable<LaneId>): Script<readonly LaneRow[]> =>
  all<LaneRow>('SELECT * FROM lanes WHERE id IN :ids ORDER BY id FOR NO KEY UPDATE', { ids: [...new Set(ids)] });

/** Which of these lanes are there, and not cut off. */
export function* standingLanes(ids: readonly LaneId[]): Script<ReadonlySet<LaneId>> {
  const rows = yield* all<{ id: LaneId }>('SELECT id FROM lanes WHERE id IN :ids AND erasure IS NULL', {
    ids: [...new Set(ids)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** The turn's lane, locked; null when a later claim has taken it. */
export function* laneOfTurn(turn: Turn): Script<LaneRow | null> {
  return heldBy(turn, yield* lockLane(turn.lane));
}

/** Whether `heldBy` finds the lane now, asked without taking its lock. */
export function* holdsTurn({ tenant, lane, epoch, consolidationId }: Turn): Script<boolean> {
  return (yield* first(SELECT_HELD, { tenant, lane, epoch, consolidationId })) !== null;
}

const SELECT_HELD = `
  SELECT 1 AS held FROM lanes
  WHERE id = @lane AND tenant = @tenant AND epoch = @epoch AND consolidation_id = @consolidationId`;

/** A turn writes inside its own lane only: what another lane knows is another owner's. */
export const requireOneLane = ({ lane, consolidationId: id }: Turn, changes: readonly MemoryChange[]): void =>
  requireLane({ lane, id }, changes);

/** The same of whatever changes the memories of one lane. */
export function requireLane(
  by: { readonly lane: LaneId; readonly id: string },
  changes: readonly MemoryChange[],
): void {
  const stray = changes.find(({ memory }) => memory.lane !== by.lane);
  if (stray === undefined) return;
  throw new Error(`${by.id} of ${by.lane} would change ${stray.memory.id} of another lane`);
}

/**
 * What follows a failed try. A window has as many tries left as its least tried batch: after a split, one whose
 * batches have all used theirs up gets a single try, so that it splits on or parks.
 */
export function afterFailure(
  turn: Turn,
  tried: { readonly retryable: boolean; readonly leastAttempts: number; readonly maxAttempts: number },
): 'retry' | 'split' | 'park' {
  if (tried.retryable && tried.leastAttempts < tried.maxAttempts) return 'retry';
  return turn.batchIds.length > 1 ? 'split' : 'park';
}
