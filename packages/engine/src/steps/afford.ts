import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { payerOf } from '../replays/space.ts';
import { budgetWait, hasBudget, usedUp } from '../rules/budget.ts';
import type { TenantSettings } from '../settings.ts';
import type { LaneId, TenantId } from '../words.ts';

/** Throws when the day's budget is used up: the work waits, and is no try. Asked before a model is. */
export async function afford(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  { tenant, lane, rules }: { tenant: TenantId; lane: LaneId; rules: TenantSettings },
): Promise<void> {
  if (!hasBudget(rules.budgets)) return;
  const now = tools.now();
  const [ofTenant, ofLane] = await Promise.all([
    ledger.overview.usageOfDay({ tenant: payerOf(tenant) }, now),
    ledger.overview.usageOfDay({ lane }, now),
  ]);
  const over = usedUp(rules, { tenant: ofTenant, lane: ofLane });
  if (over === null) return;
  throw new EngineError(`the budget is used up: ${over}; it waits for the next day (UTC) or for a higher budget`, {
    code: 'budget_exhausted',
    retryable: true,
    retryAfterMs: budgetWait(now),
    countsAsTry: false,
  });
}
