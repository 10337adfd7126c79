import type { EngineDeps, EngineSettings } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { payerOf } from '../replays/space.ts';
import { aboveCeiling, budgetWait, hasBudget, hasCeiling, usedUp } from '../rules/budget.ts';
import type { TenantSettings } from '../settings.ts';
import { DEFAULT_TENANT, type LaneId, type TenantId } from '../words.ts';

/** What it takes to know whether a model may be asked. */
export type Purse = Pick<EngineDeps, 'ledger' | 'tools'> & { readonly settings: Pick<EngineSettings, 'ceilings'> };

interface Buying {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly rules: TenantSettings;
}

/**
 * Throws when the day's budget is used up, or what the operator allows the tenant: the work waits, and is no try. Asked
 * before a model is.
 */
export async function afford(purse: Purse, { tenant, lane, rules }: Buying): Promise<void> {
  const { ledger, tools, settings } = purse;
  const payer = payerOf(tenant);
  const [own, payers] = await Promise.all([
    ledger.settings.ceilings(payer),
    // A what-if has the settings of its beginning; what it may use follows from those of now.
    payer === tenant ? rules : ledger.settings.get(payer),
  ]);
  const ceilings = own ?? settings.ceilings;
  if (!hasBudget(payers.budgets) && !hasCeiling(ceilings)) return;
  const now = tools.now();
  const [ofTenant, ofLane, operators] = await Promise.all([
    ledger.overview.usageOfDay({ tenant: payer }, now),
    ledger.overview.usageOfDay({ lane }, now),
    ceilings.costPerDay === null ? null : ledger.settings.get(DEFAULT_TENANT),
  ]);
  const above = aboveCeiling(ceilings, operators?.prices ?? {}, ofTenant);
  if (above !== null) throw exhausted(`the operator's limit for this tenant is reached: ${above}`, now);
  const over = usedUp(payers, { tenant: ofTenant, lane: ofLane });
  if (over !== null) throw exhausted(`the budget is used up: ${over}`, now);
}

const exhausted = (what: string, now: number): EngineError =>
  new EngineError(`${what}; it waits for the next day (UTC) or for a higher one`, {
    code: 'budget_exhausted',
    retryable: true,
    retryAfterMs: budgetWait(now),
    countsAsTry: false,
  });
