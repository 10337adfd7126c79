import type { EngineDeps, EngineSettings } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { Account } from '../ports/ledger/summaries.ts';
import { payerOf } from '../replays/space.ts';
import type { TenantSettings } from '../settings.ts';
import { DEFAULT_TENANT, type Owner, type TenantId } from '../words.ts';
import { aboveCeiling, budgetWait, hasBudget, hasCeiling, usedUp } from './budget.ts';

/** What it takes to know whether a model may be asked. */
export type Purse = Pick<EngineDeps, 'ledger' | 'tools'> & { readonly settings: Pick<EngineSettings, 'ceilings'> };

interface Buying {
  readonly tenant: TenantId;
  readonly account: Account;
  readonly rules: TenantSettings;
}

/** Whom calls for an owner are counted to. Asking makes nobody known: who has no lane gets none. */
export async function accountOf({ ledger }: Pick<Purse, 'ledger'>, tenant: TenantId, owner: Owner): Promise<Account> {
  const lane = await ledger.lanes.find(tenant, owner);
  return lane === null ? { strangersOf: tenant } : { lane: lane.id };
}

/**
 * Throws when the day's budget is used up, or what the operator allows the tenant: the work waits, and is no try. Asked
 * before a model is.
 */
export async function afford(purse: Purse, { tenant, account, rules }: Buying): Promise<void> {
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
  const [ofTenant, ofAccount, operators] = await Promise.all([
    ledger.overview.usageOfDay({ tenant: payer }, now),
    ledger.overview.usageOfDay(account, now),
    ceilings.costPerDay === null ? null : ledger.settings.get(DEFAULT_TENANT),
  ]);
  const above = aboveCeiling(ceilings, operators?.prices ?? {}, ofTenant);
  if (above !== null) throw exhausted(`the operator's limit for this tenant is reached: ${above}`, now);
  const over = usedUp(payers, { tenant: ofTenant, lane: ofAccount });
  if (over !== null) throw exhausted(`the budget is used up: ${over}`, now);
}

const exhausted = (what: string, now: number): EngineError =>
  new EngineError(`${what}; it waits for the next day (UTC) or for a higher one`, {
    code: 'budget_exhausted',
    retryable: true,
    retryAfterMs: budgetWait(now),
    countsAsTry: false,
  });
