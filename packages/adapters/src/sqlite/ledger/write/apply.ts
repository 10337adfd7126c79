import type { Application, Applied, MemoryChange, TenantId, Tombstone, Turn, Written } from '@slowwave/engine';
import { conflicts, writeChanges } from '../../../ledger/changes.ts';
import { openStudy } from '../../../ledger/graph/studies.ts';
import { finish } from '../../../ledger/lane-life.ts';
import { openReviews } from '../../../ledger/reviews.ts';
import { laneOfTurn, lockLane, requireOneLane, saveLane } from '../../../ledger/turn.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

/** Carries a plan out: everything or nothing. */
export function apply(sql: Sql, { turn, application }: { turn: Turn; application: Application }): Applied {
  if (runScript(sql, laneOfTurn(turn)) === null) return { kind: 'fenced' };
  const { changes, now, policy } = application;
  requireOneLane(turn, changes);
  const memoryIds = runScript(sql, conflicts(turn.tenant, changes));
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  runScript(sql, writeChanges(application, { tenant: turn.tenant, consolidationId: turn.consolidationId, now }));
  runScript(sql, openReviews(turn, application));
  if (application.graph)
    runScript(sql, openStudy({ tenant: turn.tenant, lane: turn.lane, id: turn.consolidationId, now }));
  endConsolidation(sql, turn, application);
  const lane = runScript(sql, lockLane(turn.lane));
  if (lane === null) throw new Error(`lane ${turn.lane} vanished inside a transaction`);
  const step = finish(lane, policy, now);
  runScript(sql, saveLane(step.lane));
  return { kind: 'applied', next: step.nudge };
}

/** An explicit write: the same rows without a turn. */
export function write(
  sql: Sql,
  input: {
    tenant: TenantId;
    changes: readonly MemoryChange[];
    tombstones: readonly Tombstone[];
    now: number;
  },
): Written {
  const memoryIds = runScript(sql, conflicts(input.tenant, input.changes));
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  runScript(sql, writeChanges(input, { tenant: input.tenant, consolidationId: null, now: input.now }));
  return { kind: 'written' };
}

function endConsolidation(sql: Sql, turn: Turn, { batches, timings, now }: Application): void {
  const id = turn.consolidationId;
  for (const batchId of turn.batchIds) {
    const outcome = batches.get(batchId);
    if (outcome === undefined) throw new Error(`the application of ${id} says nothing of its batch ${batchId}`);
    sql.run(END_BATCH, { id, batchId, outcome, now });
  }
  sql.run(END_CONSOLIDATION, { id, timings: JSON.stringify(timings), now });
}

const END_BATCH = `
  UPDATE batches SET stage = 'project', outcome = @outcome, applied_at = @now, failure = NULL
  WHERE id = @batchId AND consolidation_id = @id`;

const END_CONSOLIDATION = `
  UPDATE consolidations SET state = 'applied', timings = @timings, applied_at = @now, failure = NULL WHERE id = @id`;
