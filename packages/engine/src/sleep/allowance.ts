import { partAt } from '../cells/shares.ts';
import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { afford } from '../models/limits.ts';
import type { Terms } from '../ports/ledger/ledger.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { TokenUse } from '../ports/models.ts';
import { DAY_MS, dayOf } from '../text/dates.ts';

/** What consolidations of an owner cost counts for so long. */
const PAST_MS = 30 * DAY_MS;
/** In that time, what was written without a model has as many tokens as this part of one night's. */
const LEAST = 0.1;

interface Allowing {
  readonly night: Night;
  readonly terms: Terms;
}

/** The tokens that questions of this night may have; what needs no model goes on without. */
export async function tokensAllowed(deps: EngineDeps, of: Allowing): Promise<number> {
  const answers = await deps.ledger.thoughts.answers(of.night.consolidationId);
  const left = Math.min(await leftOfBudget(deps, of, answers), await shareOfOwn(deps, of));
  if (left <= 0) return 0;
  try {
    await afford(deps, { tenant: of.night.tenant, account: { lane: of.night.lane }, terms: of.terms });
    return left;
  } catch (error) {
    if (asEngineError(error).code === 'budget_exhausted') return 0;
    throw error;
  }
}

/** Of the tenant's day. What this night has asked before a crash is not counted against it twice. */
async function leftOfBudget(
  { ledger, tools }: EngineDeps,
  { night, terms }: Allowing,
  answers: readonly { readonly at: number; readonly usage: TokenUse }[],
): Promise<number> {
  const { budgets, sleep } = terms.rules;
  if (budgets.tokensPerDay === null) return Number.POSITIVE_INFINITY;
  const since = dayOf(tools.now()) * DAY_MS;
  const own = answers.filter(({ at }) => at >= since).reduce((sum, { usage }) => sum + tokensOf(usage), 0);
  const share = await ledger.shares.held(night.tenant);
  const part = share === null ? 1 : partAt(share, tools.now());
  return sleep.shareOfBudget * part * budgets.tokensPerDay - (await ledger.nights.spent(night.tenant, since)) + own;
}

/** Of what was spent on remembering what the owner said: nights cost no more than that share of it, whatever there is to compare. */
async function shareOfOwn({ ledger, tools }: EngineDeps, { night, terms }: Allowing): Promise<number> {
  const { shareOfBudget, limits } = terms.rules.sleep;
  if (shareOfBudget <= 0) return 0;
  const used = await ledger.nights.used(night, tools.now() - PAST_MS);
  return Math.max(LEAST * limits.tokens, shareOfBudget * used.consolidations) - used.nights;
}

const tokensOf = ({ promptTokens, completionTokens }: TokenUse): number => promptTokens + completionTokens;
