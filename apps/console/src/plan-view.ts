import type { PlanView } from '@slowwave/contracts';
import {
  type Candidate,
  type Fact,
  type HeldOperation,
  isoOf,
  type MemoryEvent,
  type ModelUse,
  type Operation,
  type Plan,
} from '@slowwave/engine';

/** A stored plan in the API's words. */
export const planView = (plan: Plan): PlanView => ({
  round: plan.round,
  facts: plan.facts.map(factView),
  discards: plan.discards.map(({ text, reason }) => ({ text, reason })),
  candidates: plan.candidates.map(candidateView),
  operations: plan.operations.map(operationView),
  held: plan.held.map(heldView),
  outcomes: plan.outcomes.map(({ fact, outcome, reason }) => ({ fact, outcome, reason })),
  remarks: plan.remarks.map(({ asked, did }) => ({ asked, did })),
  attacks: (plan.attacks ?? []).map(({ messageId, kinds }) => ({ message_id: messageId, kinds: [...kinds] })),
  events: plan.events.map(eventView),
  prompts: plan.prompts.map(({ name, version, hash }) => ({ name, version, hash })),
  models: { ...plan.models },
  usage: {
    calls: plan.usage.calls,
    prompt_tokens: plan.usage.promptTokens,
    completion_tokens: plan.usage.completionTokens,
    models: plan.usage.models.map(useView),
  },
  cost: plan.cost,
  variant: plan.variant ?? null,
  rung: plan.rung ?? 0,
  timings_ms: { ...plan.timings },
});

const factView = (fact: Fact): PlanView['facts'][number] => ({
  id: fact.id,
  text: fact.text,
  source_ids: [...fact.sourceIds],
  quote: fact.quote,
  category: fact.category,
  language: fact.language,
  about: fact.about,
  trust: fact.trust,
  said_at: isoOf(fact.saidAt.at),
  valid_from: isoOf(fact.validFrom),
});

const candidateView = (candidate: Candidate): PlanView['candidates'][number] => ({
  short_id: candidate.shortId,
  memory_id: candidate.memoryId,
  version: candidate.version,
  text: candidate.text,
  said_at: isoOf(candidate.saidAt.at),
  standing: candidate.standing,
  immutable: candidate.immutable,
  recalled_by: candidate.recalledBy.map(({ fact, vector, keyword }) => ({ fact, vector, keyword })),
});

const operationView = (operation: Operation): PlanView['operations'][number] => ({
  fact: operation.fact,
  event: operation.event,
  memory_id: operation.memoryId,
  before: operation.before,
  after: operation.after,
  reason: operation.reason,
  decided_by: operation.decidedBy,
});

const eventView = (event: MemoryEvent): PlanView['events'][number] => ({
  id: event.id,
  memory_id: event.memoryId,
  version: event.revision,
  event: event.kind,
  previous: event.previous,
  memory: event.text,
  reason: event.reason,
});

/** An operation that needs approval, by the id of its review. */
const heldView = (held: HeldOperation): PlanView['held'][number] => ({
  review_id: held.id,
  fact: held.fact,
  event: held.kind,
  memory_id: held.kind === 'ADD' ? null : held.memoryId,
  before: held.before,
  after: held.after,
  reason: held.reason,
  decided_by: held.decidedBy,
});

const useView = (use: ModelUse) => ({
  model: use.model,
  calls: use.calls,
  prompt_tokens: use.promptTokens,
  completion_tokens: use.completionTokens,
  cost: use.cost,
});
