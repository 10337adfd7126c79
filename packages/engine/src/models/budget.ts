import type { UsageOfModel } from '../ports/ledger/overview.ts';
import type { Budgets, Ceilings, TenantSettings } from '../settings.ts';
import type { Millis } from '../words.ts';
import { knownCost } from './prices.ts';

export const DAY_MS = 86_400_000;
/** How soon a raised budget is noticed. */
const LOOK_AGAIN_MS = 300_000;

/** Days are those of UTC, wherever a process runs. */
export const dayOf = (at: Millis): number => Math.floor(at / DAY_MS);

/** Until when to wait that is over budget: the next day, and no longer than a raised budget may go unnoticed. */
export const budgetWait = (now: Millis): Millis => Math.min((dayOf(now) + 1) * DAY_MS - now, LOOK_AGAIN_MS);

export const hasBudget = (budgets: Budgets): boolean => Object.values(budgets).some((limit) => limit !== null);

export const hasCeiling = ({ tokensPerDay, costPerDay }: Ceilings): boolean =>
  tokensPerDay !== null || costPerDay !== null;

/** What of the operator's limits is reached, in words; null while there is room. */
export function aboveCeiling(
  { tokensPerDay, costPerDay }: Ceilings,
  prices: TenantSettings['prices'],
  used: readonly UsageOfModel[],
): string | null {
  return firstOver([
    { name: 'tokens_per_day', limit: tokensPerDay, used: tokensOf(used) },
    { name: 'cost_per_day', limit: costPerDay, used: knownCost(used, prices) },
  ]);
}

/** What a day has used so far. */
export interface DayUsage {
  readonly tenant: readonly UsageOfModel[];
  readonly lane: readonly UsageOfModel[];
}

/** The budget that is used up, in words; null while there is room. */
export function usedUp({ budgets, prices }: TenantSettings, day: DayUsage): string | null {
  return firstOver([
    { name: 'tokens_per_day', limit: budgets.tokensPerDay, used: tokensOf(day.tenant) },
    { name: 'cost_per_day', limit: budgets.costPerDay, used: knownCost(day.tenant, prices) },
    { name: 'user_tokens_per_day', limit: budgets.userTokensPerDay, used: tokensOf(day.lane) },
    { name: 'user_cost_per_day', limit: budgets.userCostPerDay, used: knownCost(day.lane, prices) },
  ]);
}

interface Limit {
  readonly name: string;
  readonly limit: number | null;
  readonly used: number;
}

function firstOver(limits: readonly Limit[]): string | null {
  const over = limits.find(({ limit, used }) => limit !== null && used >= limit);
  return over === undefined ? null : `${over.name} is ${over.limit}, and ${rounded(over.used)} are used today`;
}

const tokensOf = (uses: readonly UsageOfModel[]): number =>
  uses.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);

/** Money to four places: calls cost fractions of a cent. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;
