import type { Application, Applied, MemoryChange, TenantId, Tombstone, Turn, Written } from '@slowwave/engine';
import { conflicts, writeChanges } from '../../../ledger/changes.ts';
import { openStudy } from '../../../ledger/graph/studies.ts';
import { finish } from '../../../ledger/lane-life.ts';
import { openReviews } from '../../../ledger/reviews.ts';
import { laneOfTurn, requireOneLane, saveLane } from '../../../ledger/turn.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { lockLane, lockLanes } from './lanes.ts';

/** Carries a plan out: everything or nothing. */
export async function apply(
  sql: Sql,
  { turn, application }: { turn: Turn; application: Application },
): Promise<Applied> {
  if ((await runScript(sql, laneOfTurn(turn))) === null) return { kind: 'fenced' };
  const { changes, now, policy } = application;
  requireOneLane(turn, changes);
  const memoryIds = await runScript(sql, conflicts(turn.tenant, changes));
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  await runScript(sql, writeChanges(application, { tenant: turn.tenant, consolidationId: turn.consolidationId, now }));
  await runScript(sql, openReviews(turn, application));
  const { tenant, lane: laneId, consolidationId: id } = turn;
  if (application.graph) await runScript(sql, openStudy({ tenant, lane: laneId, id, now }));
  await endConsolidation(sql, turn, application);
  const lane = await lockLane(sql, turn.lane); // again: the changes have touched it
  if (lane === null) throw new Error(`lane ${turn.lane} vanished inside a transaction`);
  const step = finish(lane, policy, now);
  await runScript(sql, saveLane(step.lane));
  return { kind: 'applied', next: step.nudge };
}

/** An explicit write: the same rows without a turn. */
export async function write(
  sql: Sql,
  input: {
    tenant: TenantId;
    changes: readonly MemoryChange[];
    tombstones: readonly Tombstone[];
    now: number;
  },
): Promise<Written> {
  await lockLanes(
    sql,
    input.changes.map(({ memory }) => memory.lane),
  );
  const memoryIds = await runScript(sql, conflicts(input.tenant, input.changes));
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  await runScript(sql, writeChanges(input, { tenant: input.tenant, consolidationId: null, now: input.now }));
  return { kind: 'written' };
}

async function endConsolidation(sql: Sql, turn: Turn, { batches, timings, now }: Application): Promise<void> {
  const id = turn.consolidationId;
  const outcomes = turn.batchIds.map((batchId) => {
    const outcome = batches.get(batchId);
    if (outcome === undefined) throw new Error(`the application of ${id} says nothing of its batch ${batchId}`);
    return outcome;
  });
  await sql.run(END_BATCHES, { id, batchIds: turn.batchIds, outcomes, now });
  await sql.run(END_CONSOLIDATION, { id, timings: JSON.stringify(timings), now });
}

const END_BATCHES = `
  UPDATE batches SET stage = 'project', outcome = n.outcome, applied_at = @now, failure = NULL
  FROM unnest(@batchIds::text[], @outcomes::text[]) AS n (id, outcome)
  WHERE batches.id = n.id AND consolidation_id = @id`;

const END_CONSOLIDATION = `
  UPDATE consolidations SET state = 'applied', timings = @timings::jsonb, applied_at = @now, failure = NULL
  WHERE id = @id`;
