import { partAt } from '../cells/shares.ts';
import type { EngineDeps, EngineSettings } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { payerOf } from '../ids.ts';
import { climb, NO_EXTRAS } from '../limits/economy.ts';
import type { ModelUse, Plan } from '../plan.ts';
import type { Terms } from '../ports/ledger/ledger.ts';
import type { UsageOfModel } from '../ports/ledger/overview.ts';
import type { Account } from '../ports/ledger/summaries.ts';
import type { StoredAnswer } from '../ports/ledger/thoughts.ts';
import type { HeldShare } from '../ports/ledger/usage.ts';
import type { ModelLimits, TokenUse } from '../ports/models.ts';
import type { Budgets, Ceilings, ModelPrice } from '../settings.ts';
import { DAY_MS, dayOf } from '../text/dates.ts';
import { DEFAULT_TENANT, type Millis, type Owner, type TenantId } from '../words.ts';

/** What it takes to know whether a model may be asked. */
export type Purse = Pick<EngineDeps, 'ledger' | 'tools'> & { readonly settings: Pick<EngineSettings, 'ceilings'> };

interface Buying {
  readonly tenant: TenantId;
  readonly account: Account;
  /** Of the tenant. */
  readonly terms: Terms;
  /** It waits already while the tenant does without summaries and graph. */
  readonly isExtra?: true;
}

/** How far whoever asks economises. */
interface Afforded {
  readonly rung: number;
}

/** Whom calls for an owner are counted to. Asking makes nobody known: who has no lane gets none. */
export async function accountOf({ ledger }: Pick<Purse, 'ledger'>, tenant: TenantId, owner: Owner): Promise<Account> {
  const lane = await ledger.lanes.find(tenant, owner);
  return lane === null ? { strangersOf: tenant } : { lane: lane.id };
}

/**
 * Throws when the day's budget is used up, or what the operator allows the tenant: the work waits, and is no try. Asked
 * before a model is. What-ifs and suites do not economise: they are compared.
 */
export async function afford(purse: Purse, { tenant, account, terms, isExtra }: Buying): Promise<Afforded> {
  const payer = payerOf(tenant);
  const isOwn = payer === tenant;
  // A what-if has the settings of its beginning; what it may use follows from those of now.
  const paying = { tenant: payer, terms: isOwn ? terms : await purse.ledger.settings.terms(payer) };
  const now = purse.tools.now();
  if (paying.terms.shareEpoch === 0) throw waiting('the tenant’s settings have not arrived from its home cell yet');
  if (!isLimited(purse, paying.terms)) return { rung: 0 };
  const [day, ofAccount] = await Promise.all([
    dayOfTenant(purse, paying, now),
    purse.ledger.overview.usageOfDay(account, now),
  ]);
  const rung = await economise(purse, paying, { day, now });
  if (day.share?.wants === 'now') await purse.ledger.shares.want(payer, day.share.epoch);
  if (day.above !== null) throw exhausted(`the operator's limit for this tenant has been reached: ${day.above}`, now);
  const over = usedUp(paying.terms.rules.budgets, { tenant: day.used, lane: ofAccount });
  if (over !== null) throw exhausted(`the budget is used up: ${over}`, now);
  if (day.share?.isUsedUp === true) throw day.share.isLast ? exhausted(OTHERS_TOO, now) : waiting(MORE_IS_ASKED_FOR);
  if (!isOwn) return { rung: 0 };
  if (isExtra && rung >= NO_EXTRAS)
    throw exhausted(`${Math.floor(day.spent * 100)}% of the budget is used; summaries and the graph wait`, now);
  return { rung };
}

const OTHERS_TOO = 'the budget is used up, here and in other cells';
const MORE_IS_ASKED_FOR = 'this cell is asking for a larger share of the budget';

interface Paying {
  readonly tenant: TenantId;
  readonly terms: Terms;
}

const isLimited = ({ settings }: Purse, { rules, ceilings }: Terms): boolean =>
  hasBudget(rules.budgets) || hasCeiling(ceilings ?? settings.ceilings);

/** What a tenant has used of its limits today. */
interface TenantDay {
  readonly used: readonly UsageOfModel[];
  /** What of the operator's limits is reached, in words; null while there is room. */
  readonly above: string | null;
  /** The largest part of a limit of the whole tenant that is used here. */
  readonly usedHere: number;
  /** The same, and what other cells had used when this one was told. */
  readonly spent: number;
  readonly limits: string;
  /** null: this is the only cell. */
  readonly share: ShareNow | null;
}

export async function dayOfTenant(
  { ledger, settings }: Purse,
  { tenant, terms }: Paying,
  now: Millis,
): Promise<TenantDay> {
  const { rules, ceilings = null } = terms;
  const { tokensPerDay, costPerDay } = ceilings ?? settings.ceilings;
  const [used, operators, held] = await Promise.all([
    ledger.overview.usageOfDay({ tenant }, now),
    costPerDay === null ? null : ledger.settings.get(DEFAULT_TENANT),
    ledger.shares.held(tenant),
  ]);
  // Counted by the operator's prices, not the tenant's.
  const theirs = limitsOn({ tokensPerDay, costPerDay }, knownCost(used, operators?.prices ?? {}), used);
  const own = limitsOn(rules.budgets, moneySpent(used), used);
  const all = [...own, ...theirs];
  const limits = JSON.stringify(all.map(({ limit }) => limit));
  const usedHere = Math.max(...all.map(shareOf));
  // Budgets of single users are not shared: nobody waits for other cells.
  const isLimited = all.some(({ limit }) => limit !== null);
  const share = held && shareNow(held, { used: isLimited ? usedHere : null, limits, now });
  return { used, above: firstOver(theirs), usedHere, spent: spentOf(share, usedHere), limits, share };
}

function spentOf(share: ShareNow | null, usedHere: number): number {
  if (share === null || usedHere >= 1) return usedHere;
  return share.isUsedUp && share.isLast ? 1 : Math.min(share.elsewhere + usedHere, ALMOST);
}

/** As long as another cell may have something left. */
const ALMOST = 0.999;

/** A cell's share of its tenant's day, as far as it is used. */
interface ShareNow {
  readonly epoch: number;
  readonly part: number;
  readonly until: Millis | null;
  readonly elsewhere: number;
  readonly isUsedUp: boolean;
  readonly isLast: boolean;
  /** 'now': that is to be noted. */
  readonly wants: boolean | 'now';
}

function shareNow(
  held: HeldShare,
  { used, limits, now }: { readonly used: number | null; readonly limits: string; readonly now: Millis },
): ShareNow {
  const part = partAt(held, now);
  const isToday = held.day === dayOf(now);
  const isSame = isToday && held.limits === limits;
  // A share is a part of the limits that it was told under: of lower ones, others may have used more than their parts.
  const isVoid = isToday && isLower(limits, held.limits);
  const isLast = isSame && held.isLast;
  const wantsAt = isSame ? held.wantsAt : isToday ? 0 : part / 2;
  const isShort = !isLast && used !== null && used >= Math.min(wantsAt, part);
  return {
    ...{ epoch: held.epoch, part, until: held.until, elsewhere: isSame ? held.elsewhere : 0 },
    ...{ isUsedUp: used !== null && (isVoid || used >= part), isLast },
    wants: held.wants || (isShort && 'now'),
  };
}

/** Whether any of the limits of a day is lower than it was. null: there was none, and any is lower. */
function isLower(limits: string, before: string): boolean {
  const [now, then] = [limits, before].map((text) => JSON.parse(text) as readonly (number | null)[]);
  return (now ?? []).some((limit, i) => limit !== null && limit < (then?.[i] ?? Number.POSITIVE_INFINITY));
}

const limitsOn = (
  { tokensPerDay, costPerDay }: Ceilings,
  money: number,
  used: readonly UsageOfModel[],
): readonly Limit[] => [
  { name: 'tokens_per_day', limit: tokensPerDay, used: chatTokens(used) },
  { name: 'cost_per_day', limit: costPerDay, used: money },
];

function shareOf({ limit, used }: Limit): number {
  if (limit === null) return 0;
  return limit === 0 ? 1 : used / limit;
}

/** Notes how far the tenant economises now, where that has changed. */
async function economise(
  { ledger }: Purse,
  { tenant, terms }: Paying,
  { day, now }: { readonly day: TenantDay; readonly now: Millis },
): Promise<number> {
  const { softLimit } = terms.rules.economy;
  const seen = { day: dayOf(now), share: day.spent, softLimit, limits: `${softLimit} ${day.limits}` };
  const { economy } = climb(terms.economy, seen, now);
  const isNoted = economy?.rung === terms.economy?.rung && economy?.limits === terms.economy?.limits;
  const noted =
    isNoted && economy?.day === terms.economy?.day
      ? economy
      : (await ledger.limits.economise(tenant, seen, now)).economy;
  return noted?.rung ?? 0;
}

/** Looks again at the tenants that economise: a day has ended, or a limit was raised. How many have changed. */
export async function sweepEconomies(purse: Purse): Promise<number> {
  const { ledger, tools } = purse;
  let changed = 0;
  for (const { tenant, rung } of await ledger.limits.economies()) {
    const paying = { tenant, terms: await ledger.settings.terms(tenant) };
    const now = tools.now();
    const day = await dayOfTenant(purse, paying, now);
    if ((await economise(purse, paying, { day, now })) !== rung) changed += 1;
  }
  return changed;
}

const exhausted = (what: string, now: number): EngineError =>
  new EngineError(`${what}; work waits until the next day (UTC) or until the limit is raised`, {
    code: 'budget_exhausted',
    retryable: true,
    retryAfterMs: budgetWait(now),
    countsAsTry: false,
  });

/** Others decide it, and soon. */
const waiting = (what: string): EngineError =>
  new EngineError(`${what}; work waits for it`, {
    code: 'budget_exhausted',
    retryable: true,
    retryAfterMs: SHARE_WAIT_MS,
    countsAsTry: false,
  });

/** Routers look for cells that want more each second. */
const SHARE_WAIT_MS = 10_000;

/** How soon a raised budget is noticed. */
const LOOK_AGAIN_MS = 300_000;

/** Until when to wait that is over budget: the next day, and no longer than a raised budget may go unnoticed. */
export const budgetWait = (now: Millis): Millis => Math.min((dayOf(now) + 1) * DAY_MS - now, LOOK_AGAIN_MS);

export const hasBudget = (budgets: Budgets): boolean => Object.values(budgets).some((limit) => limit !== null);

const hasCeiling = ({ tokensPerDay, costPerDay }: Ceilings): boolean => tokensPerDay !== null || costPerDay !== null;

/** What a day has used so far. */
interface DayUsage {
  readonly tenant: readonly UsageOfModel[];
  readonly lane: readonly UsageOfModel[];
}

/** The budget that is used up, in words; null while there is room. */
export function usedUp(budgets: Budgets, day: DayUsage): string | null {
  return firstOver([
    ...limitsOn(budgets, moneySpent(day.tenant), day.tenant),
    { name: 'user_tokens_per_day', limit: budgets.userTokensPerDay, used: chatTokens(day.lane) },
    { name: 'user_cost_per_day', limit: budgets.userCostPerDay, used: moneySpent(day.lane) },
  ]);
}

interface Limit {
  readonly name: string;
  readonly limit: number | null;
  readonly used: number;
}

function firstOver(limits: readonly Limit[]): string | null {
  const over = limits.find(({ limit, used }) => limit !== null && used >= limit);
  return over === undefined ? null : `${over.name} is ${over.limit}, and ${rounded(over.used)} have been used today`;
}

/** Of chat models: tokens of embedding models cost so much less that one number for both would say nothing. */
export const chatTokens = (uses: readonly UsageOfModel[]): number =>
  uses
    .filter(({ step }) => step !== 'embed')
    .reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);

/** As it was counted when each call was made, so that it is what the ledger of costs says. */
export const moneySpent = (uses: readonly UsageOfModel[]): number => uses.reduce((sum, { cost }) => sum + cost, 0);

/** Money to four places: calls cost fractions of a cent. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;

/**
 * Whether a provider that keeps failing is still asked.
 *
 *   closed     it is asked. Knows when the last failures in a row were.
 *              `failures` in a row within `windowMs` → open
 *   open       it is not asked before `until`.
 *              the first that asks from then on      → half_open, and asks as a probe
 *   half_open  one probe is under way; all others wait.
 *              the probe fails                       → open, for twice as long, up to `coolDownMaxMs`
 *              the probe brings no verdict           → open, and the next may probe at once
 * Any answer, also to a call begun earlier, → closed. Failures of calls begun earlier change nothing unless closed.
 */
export type Breaker =
  | { readonly kind: 'closed'; readonly failures: readonly Millis[] }
  | { readonly kind: 'open'; readonly until: Millis; readonly coolDownMs: Millis }
  | { readonly kind: 'half_open'; readonly coolDownMs: Millis };

export interface BreakerPolicy {
  readonly failures: number;
  readonly windowMs: Millis;
  readonly coolDownMs: Millis;
  readonly coolDownMaxMs: Millis;
}

type Admission =
  | { readonly kind: 'ask'; readonly probe: boolean; readonly breaker: Breaker }
  | { readonly kind: 'wait'; readonly ms: Millis };

export const CLOSED_BREAKER: Breaker = { kind: 'closed', failures: [] };

/** Whether somebody may ask now. */
export function admitCall(breaker: Breaker, now: Millis): Admission {
  switch (breaker.kind) {
    case 'closed':
      return { kind: 'ask', probe: false, breaker };
    case 'half_open':
      return { kind: 'wait', ms: breaker.coolDownMs };
    case 'open':
      if (now < breaker.until) return { kind: 'wait', ms: breaker.until - now };
      return { kind: 'ask', probe: true, breaker: { kind: 'half_open', coolDownMs: breaker.coolDownMs } };
  }
}

/** The provider did not answer, or only that it is broken. */
export function callFailed(
  breaker: Breaker,
  { probe, now }: { probe: boolean; now: Millis },
  policy: BreakerPolicy,
): Breaker {
  if (breaker.kind === 'half_open' && probe) return open(Math.min(breaker.coolDownMs * 2, policy.coolDownMaxMs), now);
  if (breaker.kind !== 'closed') return breaker;
  const failures = [...breaker.failures.filter((at) => at > now - policy.windowMs), now];
  return failures.length < policy.failures ? { kind: 'closed', failures } : open(policy.coolDownMs, now);
}

/** A call ended for another reason: nothing is known of the provider. */
export function callUndecided(breaker: Breaker, { probe, now }: { probe: boolean; now: Millis }): Breaker {
  if (breaker.kind !== 'half_open' || !probe) return breaker;
  return { kind: 'open', until: now, coolDownMs: breaker.coolDownMs };
}

const open = (coolDownMs: Millis, now: Millis): Breaker => ({ kind: 'open', until: now + coolDownMs, coolDownMs });

/** What was granted in one second. */
export interface SecondUse {
  readonly second: number;
  readonly requests: number;
  readonly tokens: number;
}

const SECOND_MS = 1_000;
/**
 * A window of 60 s touches 61 seconds of the clock, and calls take unequal times on their way to the provider, who
 * counts them when they arrive: one second more keeps apart what was granted a window apart.
 */
export const SECONDS_COUNTED = 62;

export const secondOf = (now: Millis): number => Math.floor(now / SECOND_MS);

/** The seconds that still count; those of a clock that was ahead do not. */
export const recent = (uses: readonly SecondUse[], now: Millis): readonly SecondUse[] =>
  uses.filter((use) => Math.abs(use.second - secondOf(now)) < SECONDS_COUNTED);

/**
 * How long to wait until one more call of so many tokens fits; 0: it fits now. A call larger than the whole limit is let
 * through when nothing else is counted: refusing it for ever would lose what it is for.
 */
export function waitFor(
  uses: readonly SecondUse[],
  limits: ModelLimits,
  call: { now: Millis; tokens: number },
): Millis {
  const counted = [...recent(uses, call.now)].sort((a, b) => a.second - b.second);
  const requestsMax = limits.requestsPerMinute ?? Number.POSITIVE_INFINITY;
  const tokensMax = Math.max(limits.tokensPerMinute ?? Number.POSITIVE_INFINITY, call.tokens);
  let requests = counted.reduce((sum, use) => sum + use.requests, 0);
  let tokens = counted.reduce((sum, use) => sum + use.tokens, 0);
  let freed: number | null = null;
  for (const use of counted) {
    if (requests + 1 <= requestsMax && tokens + call.tokens <= tokensMax) break;
    requests -= use.requests;
    tokens -= use.tokens;
    freed = use.second;
  }
  return freed === null ? 0 : (freed + SECONDS_COUNTED) * SECOND_MS - call.now;
}

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

/** What each model was asked, in the order they were first asked. A former answer was paid for by the consolidation it was given to. */
export function usesOf(
  answers: readonly Pick<StoredAnswer, 'model' | 'usage' | 'former'>[],
  own: Readonly<Record<string, ModelPrice>>,
): readonly ModelUse[] {
  const paid = answers.filter(({ former }) => former === undefined);
  return [...Map.groupBy(paid, (answer) => answer.model)].map(([model, group]) => {
    const promptTokens = group.reduce((sum, { usage }) => sum + usage.promptTokens, 0);
    const completionTokens = group.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
    const cachedTokens = group.reduce((sum, { usage }) => sum + (usage.cachedTokens ?? 0), 0);
    const used = { promptTokens, completionTokens, ...(cachedTokens > 0 && { cachedTokens }) };
    return { model, calls: group.length, ...used, cost: costAt(priceOf(model, own), used) };
  });
}

/** All of them together. */
export const usageOf = (models: readonly ModelUse[]): Plan['usage'] => ({
  calls: models.reduce((sum, use) => sum + use.calls, 0),
  promptTokens: models.reduce((sum, use) => sum + use.promptTokens, 0),
  completionTokens: models.reduce((sum, use) => sum + use.completionTokens, 0),
  models,
});

/** null when one of them has no price: a part of the cost would look like all of it. */
export const costOf = (uses: readonly ModelUse[]): number | null =>
  uses.reduce<number | null>((sum, { cost }) => (sum === null || cost === null ? null : sum + cost), 0);

/** What is known to have been spent: models without a price add nothing. */
const knownCost = (
  uses: readonly Pick<ModelUse, 'model' | 'promptTokens' | 'cachedTokens' | 'completionTokens'>[],
  own: Readonly<Record<string, ModelPrice>>,
): number => uses.reduce((sum, use) => sum + (costAt(priceOf(use.model, own), use) ?? 0), 0);

/** What one call has cost; null: the model has no price. */
export const costOfUse = (model: string, use: TokenUse, own: Readonly<Record<string, ModelPrice>>): number | null =>
  costAt(priceOf(model, own), use);

function costAt(price: ModelPrice | null, use: TokenUse): number | null {
  if (price === null) return null;
  const cached = Math.min(use.cachedTokens ?? 0, use.promptTokens);
  const prompt = (use.promptTokens - cached) * price.prompt + cached * (price.cached ?? price.prompt);
  return (prompt + use.completionTokens * price.completion) / TOKENS_PER_PRICE;
}

/** Servers answer with the dated name of the model they were asked for by its plain name. */
const DATE = /-\d{4}-?\d{2}-?\d{2}$/u;

/** What was answered in a job of the provider has a price of its own, so it is counted under a name of its own. */
export const batched = (model: string): string => `${model}${IN_BATCH}`;
const IN_BATCH = ' (batch)';
/** Of the usual price, where the tenant does not say. */
const BATCH_SHARE = 0.5;

function priceOf(model: string, own: Readonly<Record<string, ModelPrice>>): ModelPrice | null {
  if (model.endsWith(IN_BATCH)) return inBatch(priceOf(model.slice(0, -IN_BATCH.length), own));
  const undated = model.replace(DATE, '');
  const names = [model, undated];
  for (const prices of [own, LIST_PRICES]) {
    const named = names.find((name) => Object.hasOwn(prices, name));
    if (named !== undefined) return prices[named] ?? null;
  }
  return null;
}

function inBatch(price: ModelPrice | null): ModelPrice | null {
  if (price === null) return null;
  const { batch = BATCH_SHARE, prompt, cached = prompt, completion } = price;
  return { prompt: prompt * batch, cached: cached * batch, completion: completion * batch };
}
