import { slotsOfEach } from '@slowwave/adapters/limits';
import {
  ConsolidationList,
  ConsolidationView,
  GetConsolidationQuery,
  ListConsolidationsQuery,
  PlanView,
  PostPreview,
  PromptList,
  type SaidMessage,
  StudyView,
  type TriedSettings,
} from '@slowwave/contracts';
import {
  type Candidate,
  type Consolidation,
  draftBatch,
  type Fact,
  failureView,
  type GraphPlan,
  type HeldOperation,
  isoOf,
  isoOrNull,
  type Ledger,
  type MemoryEvent,
  type ModelUse,
  messagesOf,
  type Operation,
  type Plan,
  type Statement,
  type StoredAnswer,
  type StudyView as Study,
  saidView,
  scopeView,
  type TenantId,
  type ThoughtOf,
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
import { namedIn, refuseModels, refuseUnusable, triedFrom } from './settings.ts';

const route = routesOf('manage');

/** What consolidations read, decided and changed, also of the graph, and previews. */
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
      const thought = await thoughtOf(ledger, tenant, id);
      const view = consolidationView(thought);
      return include === undefined ? view : { ...view, messages: await messagesRead(ledger, thought.consolidation) };
    },
  }),
  route('GET /v1/consolidations/:id/prompts', {
    id: 'getPrompts',
    summary: 'Get what models were sent for a consolidation',
    description:
      'One entry for each stored answer, in the same order, with the prompt word for word. Prompts are not stored: they are ' +
      'rebuilt from the messages, the settings and the plan, and checked against the hash that is stored with the ' +
      'answer. If one of those has changed since, or something was forgotten or removed, the prompt is null.',
    params: IdParams,
    answer: PromptList,
    handle: async ({ ledger, questions }, { tenant, params: { id }, request }) => {
      const thought = await thoughtOf(ledger, tenant, id);
      const asked = await questions(thought, request.server.stopping);
      const results = thought.answers.map((answer) => ({
        step: answer.step,
        at: isoOf(answer.at),
        prompt: asked.get(answer) ?? null,
      }));
      return { results };
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
    handle: async (deps, { tenant, body, request, reply }) => {
      const { ledger, tools, images, preview } = deps;
      checkImages(body.messages, images);
      checkTimes(body, tools.now());
      const { personalData, timezone } = await ledger.settings.get(tenant);
      const ownAppOnly = isForOneApp(request);
      const { settings, ...said } = body;
      const tried = settings === undefined ? {} : triedBy(deps, request, settings);
      const batch = draftBatch(tools, { tenant, body: said, key: null, timezone, ownAppOnly });
      return planView(await preview({ batch: withPolicy(batch, personalData), tried }, waitSignal(reply)));
    },
  }),
  route('GET /v1/consolidations/:id/graph', {
    id: 'getStudy',
    summary: 'Get the graph update of a consolidation',
    description: 'Returns its study: the statements it added, what it rejected and why, and its cost.',
    params: IdParams,
    answer: StudyView,
    handle: async ({ ledger }, { tenant, params }) => studyOf(ledger, tenant, params.id),
  }),
  route('POST /v1/consolidations/:id/graph', {
    id: 'postStudy',
    summary: 'Update the graph from a consolidation',
    description:
      'Starts the study of an applied consolidation that has none, for example because relations were not enabled ' +
      'then, or retries a parked one. Returns immediately; the study runs in the background.',
    params: IdParams,
    answer: { 202: StudyView },
    handle: async ({ ledger, tools }, { tenant, params: { id } }) => {
      const consolidation = await ledger.thoughts.get(tenant, id);
      if (consolidation === null) throw notFound('consolidation', id);
      // A worker's sweep finds the lane that is due now.
      if ((await ledger.graph.request(tenant, id, tools.now())) === null) throw nothingToDo(id, consolidation.state);
      return studyOf(ledger, tenant, id);
    },
  }),
];

/** They hold for everybody: a key for one user or app neither has nor tries any. */
function triedBy(deps: ConsoleDeps, request: FastifyRequest, settings: TriedSettings) {
  if (!mayKnow(request, { userId: null, appId: null }))
    throw problem('key_bound', 'this key is bound to one user or app, and settings apply to all; omit settings');
  const tried = triedFrom(settings);
  refuseUnusable(tried.prompts, 'settings.prompts');
  refuseModels(deps, request, namedIn(tried.models, 'settings.models'));
  return tried;
}

async function thoughtOf({ thoughts }: Ledger, tenant: TenantId, id: string): Promise<ThoughtOf> {
  const consolidation = await thoughts.get(tenant, id);
  if (consolidation === null) throw notFound('consolidation', id);
  const [plan, answers] = await Promise.all([thoughts.plan(id), thoughts.answers(id)]);
  return { consolidation, plan, answers };
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

const consolidationView = ({ consolidation, plan, answers }: ThoughtOf): z.infer<typeof ConsolidationView> => ({
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
const planView = (plan: Plan): PlanView => ({
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

async function studyOf({ graph }: Ledger, tenant: TenantId, id: string) {
  const study = await graph.study(tenant, id);
  if (study === null) throw notFound('study of the consolidation', id);
  return studyView(study);
}

const nothingToDo = (id: string, state: string) =>
  problem(
    'conflict',
    `expected an applied consolidation without a study, or with a parked one, got ${id}, which is ${state}; ` +
      'use GET on the same URL to see its study',
  );

const studyView = (study: Study): z.infer<typeof StudyView> => ({
  consolidation_id: study.consolidationId,
  state: study.state,
  attempts: study.attempts,
  error: failureView(study.failure),
  requested_at: isoOf(study.requestedAt),
  applied_at: isoOrNull(study.appliedAt),
  plan: study.plan && graphPlanView(study.plan),
});

const graphPlanView = ({ entities, statements, proposals, remarks, prompts, usage }: GraphPlan) => ({
  entities: entities.map(({ id, name, kind }) => ({ id, name, kind })),
  statements: statements.map(statementView),
  proposals: proposals.map((proposal) => ({ ...proposal })),
  remarks: remarks.map((remark) => ({ ...remark })),
  prompts: prompts.map((prompt) => ({ ...prompt })),
  usage,
});

const statementView = (statement: Statement) => ({
  id: statement.id,
  kind: statement.kind,
  source: statement.source,
  relationship: 'relationship' in statement ? statement.relationship : null,
  destination: 'destination' in statement ? statement.destination : null,
  name: 'name' in statement ? statement.name : null,
  said_at: isoOf(statement.saidAt.at),
  quote: statement.quote,
  message_ids: [...statement.messageIds],
});
