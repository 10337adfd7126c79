import type {
  Canary,
  Claim,
  DuePolicy,
  Failed,
  Failure,
  Gathered,
  LaneId,
  LaneStore,
  Message,
  Turn,
  TurnName,
  WindowPolicy,
} from '@slowwave/engine';
import { dayOf, FAILURES_KEPT, isInShare, keptBackUntil, LARGER_BATCHES, largerWindow } from '@slowwave/engine/storing';
import { messageColumnsOf, notifyOfBatches } from './batches.ts';
import { foldThoughts } from './kept-thoughts.ts';
import {
  finish,
  release as giveBack,
  type LaneRow,
  NOTHING_WAITS,
  nudgeFrom,
  recount,
  retry,
  split,
  claim as take,
} from './lane-life.ts';
import { consolidationNumber, LANE_NUMBER } from './page.ts';
import { type BatchRow, messageAsKept, settingsFrom, storedMessage } from './rows/batch.ts';
import { ownerFrom, type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { all, first, inOne, insert, lastly, run, type Script, together, update } from './script.ts';
import { gather } from './thoughts.ts';
import { laneOfTurn, lockLane, recounted, saveLane } from './turn.ts';

/**
 * Takes a due lane: pins a window, or takes over the one that is pinned. Waits for whoever holds the lane (an append,
 * another claim): to skip it would drop the turn, and they are done within milliseconds.
 */
export function* claim(job: TurnName, how: Parameters<LaneStore['claim']>[1]): Script<Claim> {
  const { now, newConsolidationId: id, recentCount } = how;
  const [lane, waiting, terms] = yield* together(
    lockLane(job.lane),
    all<WaitingBatch>(SELECT_WAITING, waitingIn(job.lane, largerWindow(how.window, LARGER_BATCHES))),
    first<TermsRow>(SELECT_TERMS, { lane: job.lane, day: dayOf(now), rows: [{}] }),
  );
  const { number, canary, rung } = termsFrom(terms);
  const window = largerWindow(how.window, rung ?? 0);
  if (lane === null || lane.erasure !== null || lane.held !== null || lane.state === 'idle') return { kind: 'stale' };
  if (lane.generation !== job.generation) return { kind: 'stale' };
  const dueAt = Math.max(lane.due_at ?? 0, keptBackUntil(lane.leaving_until, now));
  if (dueAt > now) return { kind: 'not_due', dueAt };
  if (lane.consolidation_id !== null) return yield* resume(lane, lane.consolidation_id, recentCount);
  const pinned = windowOf(waiting.slice(0, windowLimit(lane, window)), window, lane.kept_windows);
  const [head, last] = [pinned[0], pinned.at(-1)];
  if (head === undefined || last === undefined) return { kind: 'stale' };
  const isAll = pinned.length === waiting.length && waiting.length < window.maxBatches;
  const taken = take(isAll ? recount(lane, NOTHING_WAITS) : yield* recounted(lane, last.position), id);
  const variant = canary !== null && isInShare(canary, ownerFrom(lane)) ? canary.id : null;
  const turn = turnOf(taken, { ...head, batchIds: pinned.map((batch) => batch.id), pinnedAt: now, variant, rung });
  const unclaimed = unclaimedAmong(lane, pinned);
  const pin = inOne(
    ...pinning(lane, { id, number, pinned, now, variant, rung }),
    ...unpacking(lane, unclaimed),
    saveLane(taken),
  );
  const said =
    unclaimed.length === pinned.length ? unclaimed.flatMap(({ messages }) => messages.map(messageAsKept)) : null;
  const [, gathered] = yield* lastly(together(pin, gatheredIf(turn, recentCount, said)));
  return { kind: 'claimed', turn, gathered };
}

/** Under what a new consolidation of a lane begins: with which number, for which canary, and on which rung its tenant saves. */
interface TermsRow {
  readonly number: number;
  /** The canary whose changes hold for new turns of the tenant, whoever is in its share. */
  readonly canary: string | null;
  /** As JSON. */
  readonly steps: string | null;
  readonly step: number | null;
  /** null: it saves nothing. */
  readonly rung: number | null;
}

const SELECT_TERMS = `
  SELECT :number(consolidations) AS number, c.id AS canary, c.steps, c.step, e.rung
  FROM :rows AS r CROSS JOIN lanes l
  LEFT JOIN canaries c ON c.tenant = l.tenant AND c.finished_at IS NULL AND c.state IN ('running', 'done')
  LEFT JOIN economies e ON e.tenant = l.tenant AND e.day = @day
  WHERE l.id = @lane`;

function termsFrom(row: TermsRow | null) {
  if (row === null) return { number: 0, canary: null, rung: null };
  const { number, canary: id, steps, step, rung } = row;
  if (id === null || steps === null || step === null) return { number, canary: null, rung };
  return { number, canary: { id, share: (JSON.parse(steps) as Canary['steps'])[step]?.share ?? 0 }, rung };
}

/** What the turn reads first: under the lane's lock all of it is of one moment. */
function* gatheredIf(
  turn: Turn,
  recentCount: number | undefined,
  said: readonly Message[] | null = null,
): Script<Gathered | null> {
  return recentCount === undefined ? null : yield* gather(turn, recentCount, said);
}

/** A batch that waits, as far as its place in a window goes. */
interface WaitingBatch extends ScopeColumns {
  readonly number: number;
  readonly id: string;
  readonly scope: number;
  readonly settings: string;
  readonly tokens: number;
  readonly position: number;
  readonly key_id: string | null;
  /** As JSON. */
  readonly formers: string;
  readonly accepted_at: number;
  /** What it says, where it was never claimed. */
  readonly messages: string | null;
  readonly seq: number | null;
  readonly seen_until: number | null;
}

const waitingIn = (lane: LaneId, { maxBatches, maxTokens }: WindowPolicy) => ({
  lane,
  limit: maxBatches,
  tokens: maxTokens,
});

/** How many batches a window may pin at most. */
const windowLimit = (lane: LaneRow, window: WindowPolicy): number =>
  Math.max(1, Math.min(window.maxBatches, lane.window_limit ?? window.maxBatches));

/** The longest prefix of what waits with one scope and one settings, within the limits; always at least one batch. */
function windowOf(
  waiting: readonly WaitingBatch[],
  window: WindowPolicy,
  keptWindows: number,
): readonly WaitingBatch[] {
  const [first] = waiting;
  let tokens = 0;
  const end = waiting.findIndex((batch, i) => {
    tokens += batch.tokens;
    if (i === 0 || first === undefined) return false;
    const isKept = first.position <= keptWindows && formerOf(batch) !== formerOf(first);
    return isKept || tokens > window.maxTokens || batch.scope !== first.scope || batch.settings !== first.settings;
  });
  return end === -1 ? waiting : waiting.slice(0, end);
}

/** The consolidation that it was of before. */
const formerOf = ({ formers }: WaitingBatch): string | undefined => (JSON.parse(formers) as string[]).at(-1);

/** What is said by those that no window can reach is not read. */
const SELECT_WAITING = `
  SELECT b.number, b.id, b.scope, b.settings, b.tokens, b.position, b.key_id, b.formers, b.accepted_at,
    s.user_id, s.agent_id, s.run_id, s.app_id, u.seq, u.seen_until,
    CASE WHEN sum(b.tokens) OVER (ORDER BY b.position) - b.tokens <= @tokens THEN u.messages END AS messages
  FROM batches b JOIN scopes s ON s.id = b.scope LEFT JOIN unclaimed_messages u ON u.batch_id = b.id
  WHERE b.lane = ${LANE_NUMBER} AND b.state = 'pending' ORDER BY b.position LIMIT @limit`;

/** A batch that is claimed for the first time, with what it says as rows. */
interface Unclaimed extends Pick<WaitingBatch, 'id' | 'number'> {
  readonly messages: ReturnType<typeof messageColumnsOf>;
}

const unclaimedAmong = ({ tenant, id: lane }: LaneRow, pinned: readonly WaitingBatch[]): readonly Unclaimed[] =>
  pinned.flatMap(({ number, id, scope, accepted_at, seq, seen_until, messages }) => {
    if (seq === null) return [];
    if (seen_until === null || messages === null)
      throw new Error(`the messages of batch ${id} were not read, but it is claimed`);
    const row = { batch_id: id, seq, seen_until, messages, tenant, lane, scope, accepted_at };
    return [{ id, number, messages: messageColumnsOf(row) }];
  });

function unpacking({ number: lane }: LaneRow, unclaimed: readonly Unclaimed[]): readonly Script<number>[] {
  if (unclaimed.length === 0) return [];
  const rows = unclaimed.flatMap(({ number: batch, messages }) =>
    messages.map((columns) => storedMessage(columns, { lane, batch })),
  );
  return [
    insert('messages', rows),
    run('DELETE FROM unclaimed_messages WHERE batch_id IN :ids', { ids: unclaimed.map(({ id }) => id) }),
  ];
}

interface Starting {
  readonly id: string;
  readonly number: number;
  readonly pinned: readonly WaitingBatch[];
  readonly now: number;
  readonly variant: string | null;
  readonly rung: number | null;
}

function pinning(
  { tenant, number: lane }: LaneRow,
  { id, number, pinned, now, variant, rung }: Starting,
): readonly Script<number>[] {
  const ids = pinned.map((batch) => batch.id);
  const scope = pinned[0]?.scope ?? null;
  return [
    run(INSERT_CONSOLIDATION, { id, number, tenant, lane, scope, batchIds: JSON.stringify(ids), now, variant, rung }),
    run(PIN, { number, ids, now }),
  ];
}

const INSERT_CONSOLIDATION = `
  INSERT INTO consolidations (number, id, tenant, lane, scope, state, batch_ids, attempts, created_at, summary, variant, rung)
  SELECT @number, @id, @tenant, @lane, s.id, 'thinking', @batchIds::jsonb, 0, @now, s.summary, @variant, @rung
  FROM scopes s WHERE s.id = @scope`;

/** The consolidation of a turn. */
const OWN = consolidationNumber('@id');

const PIN = `
  UPDATE batches SET state = 'consolidating', stage = 'extract', claimed_at = @now, consolidation = @number
  WHERE id IN :ids`;

/** The same window under a new epoch; what was stored of it is kept. */
function* resume(lane: LaneRow, id: string, recentCount: number | undefined): Script<Claim> {
  yield* run(
    `UPDATE consolidations SET state =
       CASE WHEN EXISTS (SELECT 1 FROM plans WHERE consolidation_id = @id) THEN 'planned' ELSE 'thinking' END
     WHERE id = @id`,
    { id },
  );
  const taken = take(lane, id);
  const [, window] = yield* together(saveLane(taken), first<WindowRow>(SELECT_WINDOW, { id }));
  if (window === null) throw new Error(`lane ${lane.id} is consolidating, but no batch is pinned`);
  const turn: Turn = { ...turnOf(taken, { ...window, batchIds: JSON.parse(window.batch_ids) }), resumed: true };
  return { kind: 'claimed', turn, gathered: yield* gatheredIf(turn, recentCount) };
}

/** A pinned window: its consolidation, with the settings of its first batch. */
interface Window extends ScopeColumns {
  readonly settings: string;
  readonly key_id: string | null;
  readonly pinnedAt: number;
  readonly variant: string | null;
  readonly rung: number | null;
}

interface WindowRow extends Window {
  readonly batch_ids: string;
}

const SELECT_WINDOW = `
  SELECT c.batch_ids, c.created_at AS "pinnedAt", c.variant, c.rung, b.settings, b.key_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c
  JOIN batches b ON b.id = c.batch_ids->>0
  JOIN scopes s ON s.id = c.scope
  WHERE c.id = @id`;

/** The turn says when its window was pinned, so that a resumed one asks its model the same question. */
function turnOf(lane: LaneRow, window: Window & { readonly batchIds: readonly string[] }): Turn {
  if (lane.consolidation_id === null) throw new Error(`lane ${lane.id} was claimed without a consolidation`);
  return {
    tenant: lane.tenant,
    lane: lane.id,
    owner: ownerFrom(lane),
    generation: lane.generation,
    epoch: lane.epoch,
    consolidationId: lane.consolidation_id,
    scope: scopeFrom(window),
    settings: settingsFrom(window.settings),
    batchIds: window.batchIds,
    variant: window.variant,
    attempts: lane.attempts,
    claimedAt: window.pinnedAt,
    ...(window.key_id !== null && { keyId: window.key_id }),
    ...(window.rung !== null && { rung: window.rung }),
  };
}

interface Failing {
  readonly failure: Failure;
  readonly retryable: boolean;
  readonly retryAt: number;
  readonly maxAttempts: number;
  readonly policy: DuePolicy;
}

interface Fail extends Failing {
  readonly turn: Turn;
}

/** A try failed: the window is tried again, split or parked. */
export function* fail(turn: Turn, how: Failing): Script<Failed> {
  const input = { turn, ...how };
  const lane = yield* laneOfTurn(turn);
  if (lane === null) return { kind: 'fenced' };
  const tried = yield* countTry(input);
  const end = { retry: tryAgain, split: halve, park }[whatFollows(input, tried)];
  return yield* end(lane, input, tried);
}

type TriedRow = Pick<BatchRow, 'id' | 'position' | 'attempts' | 'failure' | 'failures'>;

/** The batches of the window, with this try among theirs. */
function* countTry({ turn, failure }: Fail): Script<readonly TriedRow[]> {
  const text = `SELECT id, position, attempts, failures FROM batches WHERE consolidation = ${OWN}`;
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
  const { consolidationId: id } = input.turn;
  yield* together(endTry(input, 'split'), run(UNPIN, { id }));
  yield* foldThoughts([id]);
  const through = Math.max(0, ...tried.map(({ position }) => position));
  const limit = Math.ceil(input.turn.batchIds.length / 2);
  const step = split(yield* recounted(lane), { limit, through, now: input.failure.at });
  yield* saveLane(step.lane);
  return { kind: 'split', next: nudgeFrom(step.lane) };
}

const UNPIN = `
  UPDATE batches SET state = 'pending', stage = 'waiting', claimed_at = NULL, consolidation = NULL
  WHERE consolidation = ${OWN}`;

function* park(lane: LaneRow, input: Fail): Script<Failed> {
  const { turn, failure, policy } = input;
  const parking = `UPDATE batches SET state = 'parked' WHERE consolidation = ${OWN}`;
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

/** Gives the turn back unharmed: due at the given time, no attempt counted. Why is shown on the batches. */
export function* release(turn: Turn, dueAt: number, why?: Failure): Script<void> {
  const lane = yield* laneOfTurn(turn);
  if (lane === null) return;
  const showing = `UPDATE batches SET failure = @failure::jsonb WHERE consolidation = ${OWN}`;
  if (why !== undefined) yield* run(showing, { id: turn.consolidationId, failure: JSON.stringify(why) });
  yield* saveLane(giveBack(lane, dueAt));
}
