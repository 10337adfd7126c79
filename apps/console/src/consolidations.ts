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
  type TriedSettings,
} from '@slowwave/contracts';
import {
  type Consolidation,
  draftBatch,
  failureView,
  isoOf,
  isoOrNull,
  type Ledger,
  messagesOf,
  type StoredAnswer,
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
import { namedIn, refuseModels } from './named-models.ts';
import { planView } from './plan-view.ts';
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
