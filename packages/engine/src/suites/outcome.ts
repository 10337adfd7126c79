import type { EngineDeps } from '../deps.ts';
import { addFigures, type Figures } from '../figures/figures.ts';
import type { GoldChange, GoldFact, Outcome } from '../figures/gold.ts';
import { figuresOf, languageOf, measuredIn } from '../figures/measure.ts';
import { originOf } from '../ids.ts';
import type { Plan } from '../plan.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';

/** What consolidations of one owner made, and how they went. */
export interface Made {
  readonly outcome: Omit<Outcome, 'live'>;
  readonly figures: Figures;
  readonly calls: number;
  readonly tokens: number;
}

/** Those that are over, in life or in a shadow space; messages are called as in life. */
export async function madeBy(
  deps: Pick<EngineDeps, 'ledger'>,
  consolidations: readonly Pick<Consolidation, 'id' | 'tenant' | 'batchIds'>[],
): Promise<Made> {
  const facts: GoldFact[] = [];
  const changes: GoldChange[] = [];
  const figures: Figures[] = [];
  let [calls, tokens] = [0, 0];
  for (const one of consolidations) {
    const measured = await measuredIn(deps, one);
    figures.push(figuresOf(measured));
    const { plan } = measured;
    if (plan === null) continue;
    facts.push(...factsOf(plan));
    changes.push(...changesOf(plan));
    calls += plan.usage.calls;
    tokens += plan.usage.promptTokens + plan.usage.completionTokens;
  }
  return { outcome: { facts, changes }, figures: addFigures(figures), calls, tokens };
}

/** Facts that were dropped were found as well, but nothing was remembered of them. */
function factsOf({ facts, outcomes }: Plan): readonly GoldFact[] {
  const dropped = new Set(outcomes.flatMap(({ fact, outcome }) => (outcome === 'DROPPED' ? [fact] : [])));
  return facts
    .filter(({ id }) => !dropped.has(id))
    .map(({ text, quote, language, sourceIds }) => ({
      ...{ text, quote, language: languageOf(text) ?? language },
      sources: sourceIds.map(originOf),
    }));
}

const changesOf = ({ operations }: Plan): readonly GoldChange[] =>
  operations.flatMap(({ event, before }) =>
    (event === 'UPDATE' || event === 'DELETE') && before !== null ? [{ event, before }] : [],
  );
