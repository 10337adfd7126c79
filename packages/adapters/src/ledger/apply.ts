import type { Application, Applied, MemoryChange, Millis, TenantId, Tombstone, Turn, Written } from '@slowwave/engine';
import { asWrite } from './access.ts';
import { conflicts, writeChanges } from './changes.ts';
import { openStudy } from './graph/studies.ts';
import { finish } from './lane-life.ts';
import { openReviews } from './reviews.ts';
import { run, type Script } from './script.ts';
import { laneOfTurn, lockLanes, requireOneLane, saveLane } from './turn.ts';

interface Apply {
  readonly turn: Turn;
  readonly application: Application;
}

/** Carries a plan out: everything or nothing. */
export const apply = asWrite('memories.apply', function* ({ turn, application }: Apply): Script<Applied> {
  const lane = yield* laneOfTurn(turn);
  if (lane === null) return { kind: 'fenced' };
  const { changes, now, policy } = application;
  requireOneLane(turn, changes);
  const { tenant, consolidationId: id } = turn;
  const memoryIds = yield* conflicts(tenant, changes, [lane]);
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  const changed = changes.length > 0 ? { ...lane, updated_at: Math.max(lane.updated_at, now) } : lane;
  const step = finish(changed, policy, now);
  const beside = [...ending(turn, application), saveLane(step.lane)];
  yield* writeChanges(application, { tenant, consolidationId: id, now, beside });
  yield* openReviews(turn, application);
  if (application.graph) yield* openStudy({ tenant, lane: lane.id, id, now });
  return { kind: 'applied', next: step.nudge };
});

function ending(turn: Turn, { batches, timings, now }: Application): readonly Script<unknown>[] {
  const id = turn.consolidationId;
  const rows = turn.batchIds.map((batchId) => {
    const outcome = batches.get(batchId);
    if (outcome === undefined) throw new Error(`the application of ${id} says nothing of its batch ${batchId}`);
    return { id: batchId, outcome };
  });
  return [run(END_BATCHES, { id, rows, now }), run(END_CONSOLIDATION, { id, timings: JSON.stringify(timings), now })];
}

const END_BATCHES = `
  UPDATE batches SET stage = 'project', outcome = n.outcome, applied_at = @now, failure = NULL,
    speech_revision = speech_revision + 1
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
  const lanes = yield* lockLanes(changes.map(({ memory }) => memory.lane));
  const memoryIds = yield* conflicts(tenant, changes, lanes);
  if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
  yield* writeChanges(input, { tenant, consolidationId: null, now });
  return { kind: 'written' };
});
