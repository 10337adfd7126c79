import type { ModelUse, Plan } from '../plan.ts';
import type { StoredAnswer } from '../ports/ledger/thoughts.ts';
import type { TokenUse } from '../ports/models.ts';
import type { ModelPrice } from '../settings.ts';

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
export const knownCost = (
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
