import { consolidate } from './consolidate.ts';
import type { EngineDeps } from './deps.ts';
import { asEngineError, type EngineError, FencedError } from './errors.ts';
import type { Turn } from './ports/ledger/lanes.ts';
import type { TurnHandler, Verdict } from './ports/schedule.ts';
import type { Cancellation } from './ports/tools.ts';

/**
 * What a worker does with one job: claims the lane, consolidates, and on failure lets the ledger say what comes next.
 * Attempts, waits and parking are the ledger's; the queue only learns when to come back.
 */
export const takeTurn =
  (deps: EngineDeps): TurnHandler =>
  async ({ lane, generation }, cancel) => {
    const claim = await deps.ledger.lanes.claim(
      { lane, generation },
      { now: deps.tools.now(), window: deps.settings.window, newConsolidationId: deps.tools.id('con') },
    );
    if (claim.kind === 'stale') return { kind: 'done', next: null };
    if (claim.kind === 'not_due') return { kind: 'later', at: claim.dueAt };
    return runTurn(deps, claim.turn, cancel);
  };

async function runTurn(deps: EngineDeps, turn: Turn, cancel: Cancellation): Promise<Verdict> {
  const fields = { lane: turn.lane, consolidation: turn.consolidationId, batches: turn.batchIds };
  try {
    const next = await consolidate(deps, turn, cancel);
    deps.log.info({ ...fields, ms: deps.tools.now() - turn.claimedAt }, 'consolidated');
    return { kind: 'done', next };
  } catch (error) {
    if (error instanceof FencedError) {
      deps.log.warn(fields, error.message);
      return { kind: 'done', next: null };
    }
    return cancel.aborted ? giveBack(deps, turn) : failed(deps, turn, asEngineError(error));
  }
}

/** The worker is stopping: somebody else goes on where this one was, and no attempt is counted. */
async function giveBack(deps: EngineDeps, turn: Turn): Promise<Verdict> {
  const now = deps.tools.now();
  await deps.ledger.lanes.release(turn, now);
  return { kind: 'later', at: now };
}

async function failed(deps: EngineDeps, turn: Turn, error: EngineError): Promise<Verdict> {
  const now = deps.tools.now();
  const { code, message, retryable } = error;
  const outcome = await deps.ledger.lanes.fail(turn, {
    failure: { code, message, at: now },
    retryable,
    retryAt: now + retryDelay(deps, turn.attempts, error),
    maxAttempts: deps.settings.maxAttempts,
    policy: deps.settings.due,
  });
  const fields = { lane: turn.lane, consolidation: turn.consolidationId, code, error: message, outcome: outcome.kind };
  deps.log.warn(fields, 'a try to consolidate failed');
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

/** Doubles with every try; lanes that failed together come back apart. What the provider asked for goes first. */
function retryDelay({ settings, tools }: EngineDeps, attempts: number, error: EngineError): number {
  const doubled = Math.min(settings.retryDelayMs * 2 ** attempts, settings.retryDelayMaxMs);
  const spread = Number.parseInt(tools.hash(tools.id('con')).slice(0, 4), 16) / 0xffff;
  return Math.max(error.retryAfterMs ?? 0, Math.round(doubled * (0.5 + spread / 2)));
}
