import type { Application, Applied, MemoryChange, Millis, TenantId, Tombstone, Turn, Written } from '@slowwave/engine';
import { asWrite } from './access.ts';
import { conflicts, writeChanges } from './changes.ts';
import { openStudy } from './graph/studies.ts';
import { finish } from './lane-life.ts';
import { openReviews } from './reviews.ts';
import { run, type Script, together } from './script.ts';
import { laneOfTurn, lockLane, lockLanes, requireOneLane, saveLane } from './turn.ts';

interface Apply {
  readonly turn: Turn;
  readonly application: Application;
}

/** Carries a plan out: everything or nothing. */
export const apply = asWrite('memories.apply', function* ({ turn, application }: Apply): Script<Applied> {
  if ((yield* laneOfTurn(turn)) === null) return { kind: 'fenced' };
  const { changes, now, policy } = application;
  requireOneLane(turn, changes);
  const memoryIds = yield* conflicts(turn.tenant, changes);
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  const { tenant, lane: laneId, consolidationId: id } = turn;
  yield* writeChanges(application, { tenant, consolidationId: id, now });
  yield* openReviews(turn, application);
  if (application.graph) yield* openStudy({ tenant, lane: laneId, id, now });
  yield* endConsolidation(turn, application);
  const lane = yield* lockLane(laneId); // again: the changes have touched it
  if (lane === null) throw new Error(`lane ${laneId} vanished inside a transaction`);
  const step = finish(lane, policy, now);
  yield* saveLane(step.lane);
  return { kind: 'applied', next: step.nudge };
});

function* endConsolidation(turn: Turn, { batches, timings, now }: Application): Script<void> {
  const id = turn.consolidationId;
  const rows = turn.batchIds.map((batchId) => {
    const outcome = batches.get(batchId);
    if (outcome === undefined) throw new Error(`the application of ${id} says nothing of its batch ${batchId}`);
    return { id: batchId, outcome };
  });
  yield* together(
    run(END_BATCHES, { id, rows, now }),
    run(END_CONSOLIDATION, { id, timings: JSON.stringify(timings), now }),
  );
}

const END_BATCHES = `
  UPDATE batches SET stage = 'project', outcome = n.outcome, applied_at = @now, failure = NULL
  FROM (SELECT value ->> 'id' AS id, value ->> 'outcome' AS outcome FROM :rows AS r) AS n
  WHERE batches.id = n.id AND consolidation_id = @id`;

const END_CONSOLIDATION = `
  UPDATE consolidations SET state = 'applied', timings = @timings::jsonb, applied_at = @now, failure = NULL
  WHERE id = @id`;

interface Write {
  readonly tenant: TenantId;
  readonly changes: readonly MemoryChange[];
  readonly tombstones: readonly Tombstone[];
  readonly now: Millis;
}

/** An explicit write: the same rows without a turn. */
export const writeExplicitly = asWrite('memories.write', function* (input: Write): Script<Written> {
  const { tenant, changes, now } = input;
  yield* lockLanes(changes.map(({ memory }) => memory.lane));
  const memoryIds = yield* conflicts(tenant, changes);
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  yield* writeChanges(input, { tenant, consolidationId: null, now });
  return { kind: 'written' };
});
