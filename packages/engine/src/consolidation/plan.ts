import type { EngineDeps } from '../deps.ts';
import { FencedError } from '../errors.ts';
import { isStudied } from '../graph/study/values.ts';
import { costOf, usesOf } from '../models/budget.ts';
import type { Plan } from '../plan.ts';
import type { Guarded, Planned } from './values.ts';

/** Stores the whole outcome of thinking, before anything is changed by it. */
export async function plan(deps: EngineDeps, guarded: Guarded, attempt: Attempt): Promise<Planned> {
  const { turn } = guarded;
  const made = await draft(deps, guarded, attempt);
  const stored = await deps.ledger.thoughts.storePlan(turn, made);
  if (stored.kind === 'fenced') throw new FencedError(turn.consolidationId);
  return { ...guarded, plan: made };
}

/** The plan as such, from what was thought and what the ledger has of the answers. */
export async function draft(deps: EngineDeps, guarded: Guarded, attempt: Attempt): Promise<Plan> {
  const { turn, rules } = guarded;
  const models = usesOf(await deps.ledger.thoughts.answers(turn.consolidationId), rules.prices);
  return {
    consolidationId: turn.consolidationId,
    round: attempt.round,
    facts: guarded.facts,
    discards: guarded.discards,
    candidates: guarded.candidates,
    operations: guarded.operations,
    held: guarded.held,
    outcomes: guarded.outcomes,
    remarks: guarded.remarks,
    events: guarded.events,
    prompts: guarded.prompts,
    models: { chat: deps.chat.name, embedder: deps.embedder.fingerprint },
    usage: {
      calls: models.reduce((sum, use) => sum + use.calls, 0),
      promptTokens: models.reduce((sum, use) => sum + use.promptTokens, 0),
      completionTokens: models.reduce((sum, use) => sum + use.completionTokens, 0),
      models,
    },
    cost: costOf(models),
    timings: attempt.timings,
    ...(isStudied(turn, rules) && { graph: true }),
  };
}

interface Attempt {
  readonly round: number;
  readonly timings: Readonly<Record<string, number>>;
}
