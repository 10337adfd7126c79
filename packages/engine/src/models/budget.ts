import type { EngineDeps, EngineSettings } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { ModelUse } from '../plan.ts';
import type { UsageOfModel } from '../ports/ledger/overview.ts';
import type { Account } from '../ports/ledger/summaries.ts';
import type { StoredAnswer } from '../ports/ledger/thoughts.ts';
import type { TokenUse } from '../ports/models.ts';
import { payerOf } from '../replays/space.ts';
import type { Budgets, Ceilings, ModelPrice, TenantSettings } from '../settings.ts';
import { DAY_MS, dayOf } from '../text/dates.ts';
import { DEFAULT_TENANT, type Millis, type Owner, type TenantId } from '../words.ts';

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
  if (above !== null) throw exhausted(`the operator's limit for this tenant has been reached: ${above}`, now);
  const over = usedUp(payers, { tenant: ofTenant, lane: ofAccount });
  if (over !== null) throw exhausted(`the budget is used up: ${over}`, now);
}

const exhausted = (what: string, now: number): EngineError =>
  new EngineError(`${what}; work waits for the next day (UTC) or a higher limit`, {
    code: 'budget_exhausted',
    retryable: true,
    retryAfterMs: budgetWait(now),
    countsAsTry: false,
  });

/** How soon a raised budget is noticed. */
const LOOK_AGAIN_MS = 300_000;

/** Until when to wait that is over budget: the next day, and no longer than a raised budget may go unnoticed. */
export const budgetWait = (now: Millis): Millis => Math.min((dayOf(now) + 1) * DAY_MS - now, LOOK_AGAIN_MS);

export const hasBudget = (budgets: Budgets): boolean => Object.values(budgets).some((limit) => limit !== null);

const hasCeiling = ({ tokensPerDay, costPerDay }: Ceilings): boolean => tokensPerDay !== null || costPerDay !== null;

/** What of the operator's limits is reached, in words; null while there is room. */
function aboveCeiling(
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
interface DayUsage {
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

/**
 * List prices in US dollars per million tokens, for models a tenant has not priced itself. Edit freely: plans keep the
 * cost they were made with. A tenant that prices in another currency prices every model it uses.
 */
const LIST_PRICES: Readonly<Record<string, ModelPrice>> = {
  builtin: { prompt: 0, completion: 0 },
  'gpt-4o': { prompt: 2.5, completion: 10 },
  'gpt-4o-mini': { prompt: 0.15, completion: 0.6 },
  'gpt-4.1': { prompt: 2, completion: 8 },
  'gpt-4.1-mini': { prompt: 0.4, completion: 1.6 },
  'gpt-4.1-nano': { prompt: 0.1, completion: 0.4 },
  'gpt-5': { prompt: 1.25, completion: 10 },
  'gpt-5-mini': { prompt: 0.25, completion: 2 },
  'gpt-5-nano': { prompt: 0.05, completion: 0.4 },
};

const TOKENS_PER_PRICE = 1_000_000;

/** What each model was asked, in the order they were first asked. */
export function usesOf(
  answers: readonly Pick<StoredAnswer, 'model' | 'usage'>[],
  own: Readonly<Record<string, ModelPrice>>,
): readonly ModelUse[] {
  return [...Map.groupBy(answers, (answer) => answer.model)].map(([model, group]) => {
    const promptTokens = group.reduce((sum, { usage }) => sum + usage.promptTokens, 0);
    const completionTokens = group.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
    const cost = costAt(priceOf(model, own), { promptTokens, completionTokens });
    return { model, calls: group.length, promptTokens, completionTokens, cost };
  });
}

/** null when one of them has no price: a part of the cost would look like all of it. */
export const costOf = (uses: readonly ModelUse[]): number | null =>
  uses.reduce<number | null>((sum, { cost }) => (sum === null || cost === null ? null : sum + cost), 0);

/** What is known to have been spent: models without a price add nothing. */
export const knownCost = (
  uses: readonly Pick<ModelUse, 'model' | 'promptTokens' | 'completionTokens'>[],
  own: Readonly<Record<string, ModelPrice>>,
): number => uses.reduce((sum, use) => sum + (costAt(priceOf(use.model, own), use) ?? 0), 0);

const costAt = (price: ModelPrice | null, use: TokenUse): number | null =>
  price === null
    ? null
    : (use.promptTokens * price.prompt + use.completionTokens * price.completion) / TOKENS_PER_PRICE;

/** Servers answer with the dated name of the model they were asked for by its plain name. */
const DATE = /-\d{4}-?\d{2}-?\d{2}$/u;

function priceOf(model: string, own: Readonly<Record<string, ModelPrice>>): ModelPrice | null {
  const undated = model.replace(DATE, '');
  const names = [model, undated];
  for (const prices of [own, LIST_PRICES]) {
    const named = names.find((name) => Object.hasOwn(prices, name));
    if (named !== undefined) return prices[named] ?? null;
  }
  return null;
}
