import { variantOf } from '../canaries/variant.ts';
import { type BegunTurn, consolidate } from '../consolidation/consolidate.ts';
import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError, type EngineErrorCode, FencedError, retryDelay } from '../errors.ts';
import { askForStudy } from '../graph/study/study-lane.ts';
import { ownerBitsOfLane } from '../ids.ts';
import { rungOn } from '../limits/economy.ts';
import { doubt } from '../models/away.ts';
import type { Claim, Turn } from '../ports/ledger/lanes.ts';
import type { TurnOutcome, Cancellation } from '../ports/tools.ts';
import type { FollowUps, TurnHandler, TurnName, Verdict } from '../ports/schedule.ts';
import { depsOf } from '../replays/in-space.ts';
import { duePolicy } from '../settings.ts';
import { dayOf } from '../text/dates.ts';
import { failureOf } from '../views/views.ts';
import type { Millis } from '../words.ts';
import { askForSummary } from './summarize.ts';

export interface TurnDeps extends EngineDeps {
  readonly followUps: FollowUps;
}

/**
 * What a worker does with one job: claims the lane, consolidates, and on failure lets the ledger say what comes next.
 * Attempts, waits and parking are the ledger's; the queue only learns when to come back.
 */
export const takeTurn =
  (deps: TurnDeps): TurnHandler =>
  async ({ lane, generation }, cancel) => {
    const claim = await claimed(deps, { lane, generation });
    if (claim.kind === 'stale') return { kind: 'done', next: null };
    if (claim.kind === 'not_due') return { kind: 'later', at: claim.dueAt };
    return runTurn(deps, { ...claim, sure: false }, cancel);
  };

/** What cannot be read with the claim is read after it: there a failure costs the batches a try, like any other. */
async function claimed({ ledger, settings, tools }: EngineDeps, turn: TurnName): Promise<Claim> {
  const newConsolidationId = tools.id('con', ownerBitsOfLane(turn.lane));
  const how = { now: tools.now(), window: settings.window, newConsolidationId };
  try {
    return await ledger.lanes.claim(turn, { ...how, recentCount: settings.recentMessages });
  } catch (error) {
    if (asEngineError(error).code === 'ledger_unavailable') throw error;
    return ledger.lanes.claim(turn, how);
  }
}

/** When a turn is due, as its lane says now: messages that came in the meantime may have put it off. */
export const turnDueAt =
  ({ ledger }: Pick<EngineDeps, 'ledger'>) =>
  async ({ lane: id, generation }: TurnName): Promise<Millis> => {
    const lane = await ledger.lanes.get(id);
    return lane?.generation === generation ? (lane.dueAt ?? 0) : 0;
  };

interface Running extends BegunTurn {
  /** The models were just seen to answer, so that a failure is this turn's own. */
  readonly sure: boolean;
}

async function runTurn(given: TurnDeps, { turn, gathered, sure }: Running, cancel: Cancellation): Promise<Verdict> {
  const fields = { lane: turn.lane, consolidation: turn.consolidationId, batches: turn.batchIds };
  let deps = given;
  try {
    deps = await depsOf(given, turn);
    const varied = await variantOf(deps, turn);
    // A shadow space and a canary gather otherwise.
    const begun = { turn: varied.turn, gathered: varied.deps === given ? gathered : null };
    const { next, studied, summary } = await consolidate(varied.deps, begun, cancel);
    deps.log.info({ ...fields, ms: deps.tools.now() - turn.claimedAt }, 'consolidated');
    measure(deps, turn, { outcome: 'applied' });
    // Nobody waits for what comes later.
    if (summary !== null) void askForSummary(deps, { turn, refresh: summary });
    if (studied) void askForStudy(deps, deps.followUps, turn);
    return { kind: 'done', next };
  } catch (error) {
    if (error instanceof FencedError) {
      deps.log.warn(fields, error.message);
      measure(deps, turn, { outcome: 'fenced' });
      return { kind: 'done', next: null };
    }
    const failure = asEngineError(error);
    const doubted = sure || cancel.aborted ? 'none' : await doubt(deps, { turn, failure }, cancel);
    if (doubted === 'away') return putOff(deps, turn, failure);
    // It may have come back only after the failure: the last try is not lost for that.
    if (doubted === 'there') return runTurn(given, { turn, gathered: null, sure: true }, cancel);
    return ended(deps, turn, { failure, cancel });
  }
}

/**
 * What an error means: a stop, an index that is away, what only comes too early and what went on cost no attempt; a turn that
 * had all its time has failed.
 */
function ended(deps: EngineDeps, turn: Turn, { failure, cancel }: { failure: EngineError; cancel: Cancellation }) {
  const { reason } = cancel;
  const outOfTime = cancel.aborted && reason instanceof EngineError;
  if (cancel.aborted && !outOfTime) return stopped(deps, turn);
  if (!failure.countsAsTry) return putOff(deps, turn, failure);
  if (outOfTime) return failed(deps, turn, reason);
  const indexIsAway = failure.code === 'index_unavailable' && failure.retryable;
  if (!indexIsAway) return failed(deps, turn, failure);
  const fields = { lane: turn.lane, consolidation: turn.consolidationId, error: failure.message };
  deps.log.warn(fields, 'a consolidation is waiting for the index');
  measure(deps, turn, { outcome: 'waits', reason: failure.code });
  return giveBack(deps, turn, retryDelay(deps, turn.attempts, failure));
}

/** What waits without losing tries does not ask again after the first, shortest pause: many lanes may wait with it. */
const SOME_ATTEMPTS = 3;

/** Nobody's fault: the batches say what they wait for, and wait as long as it takes. */
async function putOff(deps: EngineDeps, turn: Turn, error: EngineError): Promise<Verdict> {
  const { code, message, retryAfterMs } = error;
  const now = deps.tools.now();
  const at = now + (retryAfterMs ?? retryDelay(deps, Math.max(turn.attempts, SOME_ATTEMPTS), error));
  // Whoever wrote down that it waits has put it off, too.
  if (code !== 'waits_for_batch') await deps.ledger.lanes.release(turn, at, failureOf(error, now));
  const fields = { lane: turn.lane, consolidation: turn.consolidationId, code, error: message, until: at };
  deps.log.info(fields, 'a consolidation is waiting');
  measure(deps, turn, { outcome: 'waits', reason: code });
  return { kind: 'later', at };
}

function stopped(deps: EngineDeps, turn: Turn): Promise<Verdict> {
  measure(deps, turn, { outcome: 'given_back' });
  return giveBack(deps, turn, 0);
}

/** Somebody else, or a later try, goes on where this one was; no attempt is counted. */
async function giveBack(deps: EngineDeps, turn: Turn, waitMs: number): Promise<Verdict> {
  const at = deps.tools.now() + waitMs;
  await deps.ledger.lanes.release(turn, at);
  return { kind: 'later', at };
}

async function failed(deps: EngineDeps, turn: Turn, error: EngineError): Promise<Verdict> {
  const now = deps.tools.now();
  const { code, message, retryable } = error;
  const { rules, economy } = await deps.ledger.settings.terms(turn.tenant);
  const outcome = await deps.ledger.lanes.fail(turn, {
    failure: failureOf(error, now),
    retryable,
    retryAt: now + retryDelay(deps, turn.attempts, error),
    maxAttempts: deps.settings.maxAttempts,
    policy: duePolicy(rules, deps.settings.due, rungOn(economy, dayOf(now))),
  });
  const fields = { lane: turn.lane, consolidation: turn.consolidationId, code, error: message, outcome: outcome.kind };
  deps.log.warn(fields, 'an attempt to consolidate failed');
  measure(deps, turn, { outcome: outcome.kind, reason: code });
  switch (outcome.kind) {
    case 'retry':
      return { kind: 'later', at: outcome.at };
    case 'split':
      return { kind: 'done', next: outcome.next };
    case 'parked':
      return { kind: 'parked', reason: `${code}: ${message}`, next: outcome.next };
    case 'fenced':
      return { kind: 'done', next: null };
  }
}

/** Records how a try ended. */
function measure(deps: EngineDeps, turn: Turn, { outcome, reason = null }: Ending): void {
  deps.meter.turn(turn, { outcome, reason, startedAt: turn.claimedAt, endedAt: deps.tools.now() });
}

interface Ending {
  readonly outcome: TurnOutcome;
  readonly reason?: EngineErrorCode | null;
}
