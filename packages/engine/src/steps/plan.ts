import type { EngineDeps } from '../deps.ts';
import { FencedError } from '../errors.ts';
import type { Plan } from '../plan.ts';
import type { Guarded, Planned } from './values.ts';

/** Stores the whole outcome of thinking, before anything is changed by it. */
export async function plan(deps: EngineDeps, guarded: Guarded, told: Told): Promise<Planned> {
  const { turn } = guarded;
  const made = await draft(deps, guarded, told);
  const stored = await deps.ledger.thoughts.storePlan(turn, made);
  if (stored.kind === 'fenced') throw new FencedError(turn.consolidationId);
  return { ...guarded, plan: made };
}

/** The plan as such, from what was thought and what the ledger has of the answers. */
export async function draft(deps: EngineDeps, guarded: Guarded, told: Told): Promise<Plan> {
  const { turn } = guarded;
  const answers = await deps.ledger.thoughts.answers(turn.consolidationId);
  return {
    consolidationId: turn.consolidationId,
    round: told.round,
    facts: guarded.facts,
    discards: guarded.discards,
    candidates: guarded.candidates,
    operations: guarded.operations,
    outcomes: guarded.outcomes,
    remarks: guarded.remarks,
    events: guarded.events,
    prompts: guarded.prompts,
    models: { chat: deps.chat.name, embedder: deps.embedder.fingerprint },
    usage: {
      calls: answers.length,
      promptTokens: answers.reduce((sum, answer) => sum + answer.usage.promptTokens, 0),
      completionTokens: answers.reduce((sum, answer) => sum + answer.usage.completionTokens, 0),
    },
    timings: told.timings,
  };
}

interface Told {
  readonly round: number;
  readonly timings: Readonly<Record<string, number>>;
}
