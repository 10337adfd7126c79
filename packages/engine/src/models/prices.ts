import type { ModelUse } from '../plan.ts';
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
