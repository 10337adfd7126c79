import type { DuePolicy, Failed, Failure, Turn } from '@slowwave/engine';
import { FAILURES_KEPT } from '@slowwave/engine/storing';
import { asWrite } from './access.ts';
import { notifyOfBatches } from './batches.ts';
import { finish, release as giveBack, retry, split } from './lane-life.ts';
import type { BatchRow } from './rows/batch.ts';
import { type LaneRow, nudgeFrom } from './rows/lane.ts';
import { all, run, type Script, together, update } from './script.ts';
import { laneOfTurn, recounted, saveLane } from './turn.ts';

interface Fail {
  readonly turn: Turn;
  readonly failure: Failure;
  readonly retryable: boolean;
  readonly retryAt: number;
  readonly maxAttempts: number;
  readonly policy: DuePolicy;
}

/** A try failed: the window is tried again, split or parked. */
export const fail = asWrite('lanes.fail', function* (input: Fail): Script<Failed> {
  const lane = yield* laneOfTurn(input.turn);
  if (lane === null) return { kind: 'fenced' };
  const tried = yield* countTry(input);
  const end = { retry: tryAgain, split: halve, park }[whatFollows(input, tried)];
  return yield* end(lane, input, tried);
});

type TriedRow = Pick<BatchRow, 'id' | 'position' | 'attempts' | 'failure' | 'failures'>;

/** The batches of the window, with this try among theirs. */
function* countTry({ turn, failure }: Fail): Script<readonly TriedRow[]> {
  const text = 'SELECT id, position, attempts, failures FROM batches WHERE consolidation_id = @id';
  const before = yield* all<Omit<TriedRow, 'failure'>>(text, { id: turn.consolidationId });
  const tried = before.map((batch) => ({
    ...batch,
    attempts: batch.attempts + 1,
    failure: JSON.stringify(failure),
    failures: JSON.stringify([...JSON.parse(batch.failures), failure].slice(-FAILURES_KEPT)),
  }));
  yield* update(
    'batches',
    tried.map(({ position, ...columns }) => columns),
  );
  return tried;
}

/**
 * A window has as many tries left as its least tried batch: after a split, one whose batches have all used theirs up gets
 * a single try, so that it splits on or parks.
 */
function whatFollows({ turn, retryable, maxAttempts }: Fail, tried: readonly TriedRow[]): 'retry' | 'split' | 'park' {
  const leastAttempts = Math.min(...tried.map(({ attempts }) => attempts));
  if (retryable && leastAttempts < maxAttempts) return 'retry';
  return turn.batchIds.length > 1 ? 'split' : 'park';
}

function* tryAgain(lane: LaneRow, input: Fail): Script<Failed> {
  yield* together(endTry(input, 'waiting'), saveLane(retry(lane, input.retryAt)));
  return { kind: 'retry', at: input.retryAt };
}

function* halve(lane: LaneRow, input: Fail, tried: readonly TriedRow[]): Script<Failed> {
  yield* together(endTry(input, 'split'), run(UNPIN, { id: input.turn.consolidationId }));
  const through = Math.max(0, ...tried.map(({ position }) => position));
  const limit = Math.ceil(input.turn.batchIds.length / 2);
  const step = split(yield* recounted(lane), { limit, through, now: input.failure.at });
  yield* saveLane(step.lane);
  return { kind: 'split', next: nudgeFrom(step.lane) };
}

const UNPIN = `
  UPDATE batches SET state = 'pending', stage = 'waiting', claimed_at = NULL, consolidation_id = NULL
  WHERE consolidation_id = @id`;

function* park(lane: LaneRow, input: Fail): Script<Failed> {
  const { turn, failure, policy } = input;
  const parking = "UPDATE batches SET state = 'parked' WHERE consolidation_id = @id";
  yield* together(endTry(input, 'parked'), run(parking, { id: turn.consolidationId }));
  const parked = turn.batchIds.map((id) => ({ id, tenant: turn.tenant }));
  yield* notifyOfBatches(parked, failure.at);
  const step = finish(lane, policy, failure.at);
  yield* saveLane(step.lane);
  return { kind: 'parked', next: step.nudge };
}

const endTry = ({ turn, failure }: Fail, state: 'waiting' | 'split' | 'parked'): Script<number> =>
  run(`UPDATE consolidations SET state = @state, attempts = attempts + 1, failure = @failure::jsonb WHERE id = @id`, {
    id: turn.consolidationId,
    state,
    failure: JSON.stringify(failure),
  });

interface Release {
  readonly turn: Turn;
  readonly dueAt: number;
  /** Shown on the batches. */
  readonly why: Failure | null;
}

/** Gives the turn back unharmed: due at the given time, no attempt counted. */
export const release = asWrite('lanes.release', function* ({ turn, dueAt, why }: Release): Script<void> {
  const lane = yield* laneOfTurn(turn);
  if (lane === null) return;
  const showing = 'UPDATE batches SET failure = @failure::jsonb WHERE consolidation_id = @id';
  if (why !== null) yield* run(showing, { id: turn.consolidationId, failure: JSON.stringify(why) });
  yield* saveLane(giveBack(lane, dueAt));
});
