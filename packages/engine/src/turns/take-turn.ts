import { variantOf } from '../canaries/variant.ts';
import { type BegunTurn, consolidate, SUMMARY_EVERY } from '../consolidation/consolidate.ts';
import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError, type EngineErrorCode, FencedError, retryDelay } from '../errors.ts';
import { askForStudy } from '../graph/study/study-lane.ts';
import { ownerBitsOfLane } from '../ids.ts';
import { rungOn } from '../limits/economy.ts';
import { maskSecrets } from '../masking/secrets.ts';
import { clockText, isWorthReading, leastOf, textOfContent, trustOf } from '../messages/messages.ts';
import { type Apart, askUncounted } from '../models/ask.ts';
import { doubt } from '../models/away.ts';
import { afford, type Purse } from '../models/limits.ts';
import { isObject, textOfString } from '../models/parse/listed.ts';
import { SUMMARIZE, type SummarizeInput } from '../models/prompts/consolidation.ts';
import { forStep } from '../models/steps.ts';
import type { Claim, Turn } from '../ports/ledger/lanes.ts';
import type { RefreshedSummary, SummaryBasis } from '../ports/ledger/summaries.ts';
import type { FollowUps, SummaryHandler, SummaryRefresh, TurnHandler, TurnName, Verdict } from '../ports/schedule.ts';
import type { Cancellation, TurnOutcome } from '../ports/tools.ts';
import { depsOf } from '../replays/in-space.ts';
import { duePolicy } from '../settings.ts';
import { economised } from '../suites/gate.ts';
import { dayOf } from '../text/dates.ts';
import { cleanText, estimateTokens, shorten } from '../text/normalise.ts';
import { failureOf } from '../views/views.ts';
import type { Json, Message, Millis, Trust } from '../words.ts';

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

/** More than there is room for in one call; older ones live on in the memories. */
const MESSAGES_MAX = 200;
/** Twice the 200 words that are asked for: every later extraction pays for it. */
const SUMMARY_TOKENS_MAX = 600;

interface Due {
  readonly turn: Turn;
  readonly refresh: SummaryRefresh;
}

/** Asks for a refresh that is due. Whoever calls does not wait, and nothing here fails a turn. */
async function askForSummary(
  { followUps, log }: Pick<EngineDeps, 'log'> & { readonly followUps: FollowUps },
  { turn, refresh }: Due,
): Promise<void> {
  try {
    await followUps.summarize(refresh);
  } catch (error) {
    const fields = { lane: turn.lane, consolidation: turn.consolidationId, error: String(error) };
    log.warn(fields, 'could not queue a summary refresh; the next consolidation will do it');
  }
}

type SummaryDeps = Purse & Pick<EngineDeps, 'chat' | 'chats' | 'otherChat' | 'log' | 'meter'>;

/**
 * What a worker does with one refresh: one model call, from the summary before and what was said since. It reads what
 * is there when it begins, so that a refresh asked for twice is made once.
 */
export const refreshSummary =
  (deps: SummaryDeps): SummaryHandler =>
  async (refresh, cancel) => {
    const { summaries } = deps.ledger;
    const basis = await summaries.read(refresh, { every: SUMMARY_EVERY, limit: MESSAGES_MAX });
    if (basis === null) return;
    const { tenant, upTo, revision } = basis;
    const { rung } = await afford(deps, { tenant, account: { lane: refresh.lane }, terms: basis, isExtra: true });
    const input: SummarizeInput = { summary: basis.summary, messages: toSummarize(basis.messages) };
    const apart = {
      deps: forStep(deps, 'summary', await economised(deps, { tenant, rung }, basis.rules)),
      tenant,
      account: { lane: refresh.lane },
      rules: basis.rules,
      cancel,
      purpose: 'summary' as const,
    };
    const made = input.messages.length === 0 ? { summary: basis.summary } : await summarize(apart, input);
    const refreshed = { tenant, ...made, ...extentOf(basis, made.summary), trust: trustIn(basis), upTo, revision };
    const { kind } = await summaries.store(refresh, refreshed);
    deps.log.info({ lane: refresh.lane, scope: refresh.scope, upTo, outcome: kind }, 'refreshed a summary');
  };

/** From the first message of the summary before, if there was one. */
function extentOf({ from, count, messages }: SummaryBasis, summary: string | null) {
  const first = from ?? messages[0]?.saidAt.seq ?? null;
  return summary === null ? { from: null, count: 0 } : { from: first, count: count + messages.length };
}

function trustIn({ trust, messages }: SummaryBasis): Trust | null {
  const trusts = [...(trust === null ? [] : [trust]), ...messages.filter(isTold).map(trustOf)];
  return trusts.length === 0 ? null : leastOf(trusts);
}

/** Asks, and once more for an answer of which nothing can be used or that broke off. A summary of null: nothing to say. */
async function summarize(apart: Apart, input: SummarizeInput): Promise<Pick<RefreshedSummary, 'summary' | 'call'>> {
  const question = { prompt: SUMMARIZE, ask: 'Refresh the summary.', input, shape: summaryIn };
  const { value, call } = await askUncounted(apart, question);
  return {
    summary: value === '' ? null : shorten(maskSecrets(value).text, SUMMARY_TOKENS_MAX),
    ...(call !== null && { call }),
  };
}

function summaryIn(value: Json): string | null {
  return isObject(value) && typeof value.summary === 'string' ? (textOfString(value.summary) ?? '') : null;
}

/** Of one message: a paragraph or three. Who sends more sends a document, whose beginning says what it is. */
const MESSAGE_TOKENS_MAX = 300;
/** Of all of them together: twenty long messages, and still a cheap call. */
const MESSAGES_TOKENS_MAX = 6_000;

type Shown = SummarizeInput['messages'][number];

/** What a summary call reads of the messages: the newest ones there is room for, each cut where it is huge. */
export function toSummarize(messages: readonly Message[]): readonly Shown[] {
  let room = MESSAGES_TOKENS_MAX;
  const shown: Shown[] = [];
  for (const message of messages.filter(isTold).reverse()) {
    const said = cleanText(textOfContent(message.content)).trim();
    // Masked before it is cut: half a secret is not recognised.
    const content = shorten(maskSecrets(said).text, MESSAGE_TOKENS_MAX);
    room -= estimateTokens(content);
    if (room < 0) break;
    shown.push({ role: message.role, content, timestamp: clockText(message) });
  }
  return shown.reverse();
}

/** System messages are the product's words, not the conversation's. */
const isTold = (message: Message): boolean => message.role !== 'system' && isWorthReading(message);
