import { type DuePolicy, FAILURES_KEPT, type Failed, type Failure, type Turn } from '@slowwave/engine';
import { finish, release as giveBack, retry, split } from '../../../ledger/lane-life.ts';
import { type LaneRow, nudgeFrom } from '../../../ledger/rows/lane.ts';
import { afterFailure } from '../../../ledger/turn.ts';
import type { Sql } from '../sql.ts';
import { tellOfBatches } from './batch-ends.ts';
import { laneOfTurn, recounted, saveLanes } from './lanes.ts';

export interface Fail {
  readonly turn: Turn;
  readonly failure: Failure;
  readonly retryable: boolean;
  readonly retryAt: number;
  readonly maxAttempts: number;
  readonly policy: DuePolicy;
}

/** A try failed: the window is tried again, split or parked. */
export async function fail(sql: Sql, input: Fail): Promise<Failed> {
  const { turn, failure } = input;
  const lane = await laneOfTurn(sql, turn);
  if (lane === null) return { kind: 'fenced' };
  const id = turn.consolidationId;
  await sql.run(COUNT_ATTEMPT, { id, failure: JSON.stringify(failure) });
  const leastAttempts = (await sql.get<{ attempts: number }>(SELECT_LEAST_ATTEMPTS, { id }))?.attempts ?? 0;
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
export async function release(sql: Sql, { turn, dueAt, why }: Release): Promise<void> {
  const lane = await laneOfTurn(sql, turn);
  if (lane === null) return;
  if (why !== null) await sql.run(SHOW_WHY, { id: turn.consolidationId, failure: JSON.stringify(why) });
  await saveLanes(sql, [giveBack(lane, dueAt)]);
}

async function tryAgain(sql: Sql, lane: LaneRow, input: Fail): Promise<Failed> {
  await endTry(sql, input, 'waiting');
  await saveLanes(sql, [retry(lane, input.retryAt)]);
  return { kind: 'retry', at: input.retryAt };
}

async function halve(sql: Sql, lane: LaneRow, input: Fail): Promise<Failed> {
  await endTry(sql, input, 'split');
  const id = input.turn.consolidationId;
  const through = (await sql.get<{ last: number }>(SELECT_LAST_POSITION, { id }))?.last ?? 0;
  await sql.run(UNPIN, { id });
  const limit = Math.ceil(input.turn.batchIds.length / 2);
  const step = split(await recounted(sql, lane), { limit, through, now: input.failure.at });
  await saveLanes(sql, [step.lane]);
  return { kind: 'split', next: nudgeFrom(step.lane) };
}

async function park(sql: Sql, lane: LaneRow, input: Fail): Promise<Failed> {
  await endTry(sql, input, 'parked');
  await sql.run(PARK, { id: input.turn.consolidationId });
  await tellOfBatches(
    sql,
    input.turn.batchIds.map((id) => ({ id, tenant: input.turn.tenant })),
    input.failure.at,
  );
  const step = finish(lane, input.policy, input.failure.at);
  await saveLanes(sql, [step.lane]);
  return { kind: 'parked', next: step.nudge };
}

async function endTry(sql: Sql, { turn, failure }: Fail, state: 'waiting' | 'split' | 'parked'): Promise<void> {
  await sql.run(END_TRY, { id: turn.consolidationId, state, failure: JSON.stringify(failure) });
}

const COUNT_ATTEMPT = `
  UPDATE batches SET attempts = attempts + 1, failure = @failure::jsonb, failures =
      CASE WHEN jsonb_array_length(failures) < ${FAILURES_KEPT} THEN failures ELSE failures - 0 END
      || jsonb_build_array(@failure::jsonb)
  WHERE consolidation_id = @id`;

const SHOW_WHY = 'UPDATE batches SET failure = @failure::jsonb WHERE consolidation_id = @id';

const SELECT_LEAST_ATTEMPTS = 'SELECT min(attempts) AS attempts FROM batches WHERE consolidation_id = @id';

const END_TRY = `
  UPDATE consolidations SET state = @state, attempts = attempts + 1, failure = @failure::jsonb WHERE id = @id`;

const SELECT_LAST_POSITION = 'SELECT max(position) AS last FROM batches WHERE consolidation_id = @id';

const UNPIN = `
  UPDATE batches SET state = 'pending', stage = 'waiting', claimed_at = NULL, consolidation_id = NULL
  WHERE consolidation_id = @id`;

const PARK = `UPDATE batches SET state = 'parked' WHERE consolidation_id = @id`;
