import type { DuePolicy, Failed, Failure, Turn } from '@slowwave/engine';
import { FAILURES_KEPT } from '@slowwave/engine/storing';
import { finish, release as giveBack, retry, split } from '../../../ledger/lane-life.ts';
import { type LaneRow, nudgeFrom } from '../../../ledger/rows/lane.ts';
import { afterFailure } from '../../../ledger/turn.ts';
import type { Sql } from '../sql.ts';
import { tellOfBatches } from './batch-ends.ts';
import { laneOfTurn, recounted, saveLane } from './lanes.ts';

export interface Fail {
  readonly turn: Turn;
  readonly failure: Failure;
  readonly retryable: boolean;
  readonly retryAt: number;
  readonly maxAttempts: number;
  readonly policy: DuePolicy;
}

/** A try failed: the window is tried again, split or parked. */
export function fail(sql: Sql, input: Fail): Failed {
  const { turn, failure } = input;
  const lane = laneOfTurn(sql, turn);
  if (lane === null) return { kind: 'fenced' };
  const id = turn.consolidationId;
  sql.run(COUNT_ATTEMPT, { id, failure: JSON.stringify(failure) });
  const leastAttempts = sql.get<{ attempts: number }>(SELECT_LEAST_ATTEMPTS, { id })?.attempts ?? 0;
  const end = { retry: tryAgain, split: halve, park }[afterFailure(turn, { ...input, leastAttempts })];
  return end(sql, lane, input);
}

export interface Release {
  readonly turn: Turn;
  readonly dueAt: number;
  /** Shown on the batches. */
  readonly why: Failure | null;
}

/** Gives the turn back unharmed: due at the given time, no attempt counted. */
export function release(sql: Sql, { turn, dueAt, why }: Release): void {
  const lane = laneOfTurn(sql, turn);
  if (lane === null) return;
  if (why !== null) sql.run(SHOW_WHY, { id: turn.consolidationId, failure: JSON.stringify(why) });
  saveLane(sql, giveBack(lane, dueAt));
}

function tryAgain(sql: Sql, lane: LaneRow, input: Fail): Failed {
  endTry(sql, input, 'waiting');
  saveLane(sql, retry(lane, input.retryAt));
  return { kind: 'retry', at: input.retryAt };
}

function halve(sql: Sql, lane: LaneRow, input: Fail): Failed {
  endTry(sql, input, 'split');
  const id = input.turn.consolidationId;
  const through = sql.get<{ last: number }>(SELECT_LAST_POSITION, { id })?.last ?? 0;
  sql.run(UNPIN, { id });
  const limit = Math.ceil(input.turn.batchIds.length / 2);
  const step = split(recounted(sql, lane), { limit, through, now: input.failure.at });
  saveLane(sql, step.lane);
  return { kind: 'split', next: nudgeFrom(step.lane) };
}

function park(sql: Sql, lane: LaneRow, input: Fail): Failed {
  endTry(sql, input, 'parked');
  sql.run(PARK, { id: input.turn.consolidationId });
  tellOfBatches(
    sql,
    input.turn.batchIds.map((id) => ({ id, tenant: input.turn.tenant })),
    input.failure.at,
  );
  const step = finish(lane, input.policy, input.failure.at);
  saveLane(sql, step.lane);
  return { kind: 'parked', next: step.nudge };
}

function endTry(sql: Sql, { turn, failure }: Fail, state: 'waiting' | 'split' | 'parked'): void {
  sql.run(END_TRY, { id: turn.consolidationId, state, failure: JSON.stringify(failure) });
}

const COUNT_ATTEMPT = `
  UPDATE batches SET attempts = attempts + 1, failure = @failure, failures = json_insert(
      CASE WHEN json_array_length(failures) < ${FAILURES_KEPT} THEN failures ELSE json_remove(failures, '$[0]') END,
      '$[#]', json(@failure)
    )
  WHERE consolidation_id = @id`;

const SHOW_WHY = 'UPDATE batches SET failure = @failure WHERE consolidation_id = @id';

const SELECT_LEAST_ATTEMPTS = 'SELECT min(attempts) AS attempts FROM batches WHERE consolidation_id = @id';

const END_TRY = `
  UPDATE consolidations SET state = @state, attempts = attempts + 1, failure = @failure WHERE id = @id`;

const SELECT_LAST_POSITION = 'SELECT max(position) AS last FROM batches WHERE consolidation_id = @id';

const UNPIN = `
  UPDATE batches SET state = 'pending', stage = 'waiting', claimed_at = NULL, consolidation_id = NULL
  WHERE consolidation_id = @id`;

const PARK = `UPDATE batches SET state = 'parked' WHERE consolidation_id = @id`;
