import { slotsOfEach } from '@slowwave/adapters/limits';
import {
  ConsolidationList,
  ConsolidationView,
  GetConsolidationQuery,
  ListConsolidationsQuery,
  PlanView,
  PostPreview,
  type SaidMessage,
  type TriedSettings,
} from '@slowwave/contracts';
import {
  type Candidate,
  type Consolidation,
  draftBatch,
  type Fact,
  failureView,
  type HeldOperation,
  isoOf,
  isoOrNull,
  type Json,
  type Ledger,
  type MemoryEvent,
  type ModelUse,
  messagesOf,
  type Operation,
  type Plan,
  type StoredAnswer,
  saidView,
  scopeView,
  withPolicy,
} from '@slowwave/engine';
import {
  checkImages,
  checkTimes,
  given,
  IdParams,
  isForOneApp,
  listed,
  mayKnow,
  notFound,
  pageOf,
  problem,
  waitSignal,
} from '@slowwave/http';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { refuseUnusable, triedFrom } from './settings.ts';

const route = routesOf('manage');

/** What consolidations read, decided and changed, and previews. */
export const consolidationRoutes = [
  route('GET /v1/consolidations', {
    id: 'listConsolidations',
    summary: 'List consolidations, newest first',
    query: ListConsolidationsQuery,
    answer: ConsolidationList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const filter = given({ state: query.state, userId: query.user_id });
      return listed(await ledger.thoughts.list(tenant, filter, pageOf(query)), consolidationSummary);
    },
  }),
  route('GET /v1/consolidations/:id', {
    id: 'getConsolidation',
    summary: 'Get a consolidation: what it read, decided and changed, and its cost',
    params: IdParams,
    query: GetConsolidationQuery,
    answer: ConsolidationView,
    handle: async ({ ledger }, { tenant, params: { id }, query: { include } }) => {
      const consolidation = await ledger.thoughts.get(tenant, id);
      if (consolidation === null) throw notFound('consolidation', id);
      const [plan, answers] = await Promise.all([ledger.thoughts.plan(id), ledger.thoughts.answers(id)]);
      const view = consolidationView(consolidation, plan, answers);
      return include === undefined ? view : { ...view, messages: await messagesRead(ledger, consolidation) };
    },
  }),
  route('POST /v1/consolidations/preview', {
    id: 'previewConsolidation',
    summary: 'Preview what consolidating a batch would do',
    description:
      'Runs the models and makes decisions like a consolidation. Nothing is written except the model usage. Returns ' +
      '402 if a budget is exceeded.',
    body: PostPreview,
    answer: PlanView,
    bounds: { by: 'body', apps: true },
    handle: async ({ ledger, tools, images, preview }, { tenant, body, request, reply }) => {
      checkImages(body.messages, images);
      checkTimes(body, tools.now());
      const { personalData, timezone } = await ledger.settings.get(tenant);
      const ownAppOnly = isForOneApp(request);
      const { settings, ...said } = body;
      const tried = settings === undefined ? {} : triedBy(request, settings);
      const batch = draftBatch(tools, { tenant, body: said, key: null, timezone, ownAppOnly });
      return planView(await preview({ batch: withPolicy(batch, personalData), tried }, waitSignal(reply)));
    },
  }),
];

/** They hold for everybody: a key for one user or app neither has nor tries any. */
function triedBy(request: FastifyRequest, settings: TriedSettings) {
  if (!mayKnow(request, { userId: null, appId: null }))
    throw problem(
      'key_bound',
      'this key may only be used for one user or app, and settings hold for all; omit settings',
    );
  const tried = triedFrom(settings);
  refuseUnusable(tried.prompts, 'settings.prompts');
  return tried;
}

async function messagesRead(ledger: Ledger, { tenant, batchIds }: Consolidation): Promise<SaidMessage[]> {
  const batches = await Promise.all(batchIds.map((id) => ledger.batches.get(tenant, id)));
  const inOrder = batches.filter((batch) => batch !== null).sort((a, b) => a.position - b.position);
  const messages = await Promise.all(inOrder.map((batch) => messagesOf({ ledger }, batch)));
  return messages.flat().map(saidView);
}

const consolidationSummary = (consolidation: Consolidation) => ({
  id: consolidation.id,
  ...scopeView(consolidation.scope),
  state: consolidation.state,
  batch_ids: [...consolidation.batchIds],
  attempts: consolidation.attempts,
  error: failureView(consolidation.failure),
  created_at: isoOf(consolidation.createdAt),
  applied_at: isoOrNull(consolidation.appliedAt),
  removed_at: isoOrNull(consolidation.removedAt ?? null),
});

const consolidationView = (
  consolidation: Consolidation,
  plan: Plan | null,
  answers: readonly StoredAnswer[],
): z.infer<typeof ConsolidationView> => ({
  ...consolidationSummary(consolidation),
  plan: plan && planView(plan),
  answers: answers.map(answerView),
});

const answerView = (answer: StoredAnswer) => ({
  step: answer.step,
  model: answer.model,
  output: answer.text,
  prompt_tokens: answer.usage.promptTokens,
  completion_tokens: answer.usage.completionTokens,
  at: isoOf(answer.at),
  reused_from: answer.former ?? null,
});

/**
 * Concurrent previews per tenant and process. The usage of a preview is only known at its end, so many at once could
 * exceed a budget.
 */
const AT_ONCE = 4;

type Preview = ConsoleDeps['preview'];

/** Runs a few previews of a tenant at a time. Others wait in line, as long as their callers do. */
export function fewPreviews(preview: Preview): Preview {
  const inPlace = slotsOfEach(AT_ONCE);
  return (asked, cancel) => inPlace(asked.batch.tenant, cancel, () => preview(asked, cancel));
}

/** A stored plan in the API's words. */
const planView = (plan: Plan): Json => ({
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
  models: { chat: plan.models.chat, embedder: plan.models.embedder },
  usage: {
    calls: plan.usage.calls,
    prompt_tokens: plan.usage.promptTokens,
    completion_tokens: plan.usage.completionTokens,
    models: plan.usage.models.map(useView),
  },
  cost: plan.cost,
  timings_ms: { ...plan.timings },
});

const factView = (fact: Fact): Json => ({
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

const candidateView = (candidate: Candidate): Json => ({
  short_id: candidate.shortId,
  memory_id: candidate.memoryId,
  version: candidate.version,
  text: candidate.text,
  said_at: isoOf(candidate.saidAt.at),
  standing: candidate.standing,
  immutable: candidate.immutable,
  recalled_by: candidate.recalledBy.map(({ fact, vector, keyword }) => ({ fact, vector, keyword })),
});

const operationView = (operation: Operation): Json => ({
  fact: operation.fact,
  event: operation.event,
  memory_id: operation.memoryId,
  before: operation.before,
  after: operation.after,
  reason: operation.reason,
  decided_by: operation.decidedBy,
});

const eventView = (event: MemoryEvent): Json => ({
  id: event.id,
  memory_id: event.memoryId,
  version: event.revision,
  event: event.kind,
  previous: event.previous,
  memory: event.text,
  reason: event.reason,
});

/** An operation that needs approval, by the id of its review. */
const heldView = (held: HeldOperation): Json => ({
  review_id: held.id,
  fact: held.fact,
  event: held.kind,
  memory_id: held.kind === 'ADD' ? null : held.memoryId,
  before: held.before,
  after: held.after,
  reason: held.reason,
  decided_by: held.decidedBy,
});

const useView = (use: ModelUse): Json => ({
  model: use.model,
  calls: use.calls,
  prompt_tokens: use.promptTokens,
  completion_tokens: use.completionTokens,
  cost: use.cost,
});
