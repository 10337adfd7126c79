import { StudyView } from '@slowwave/contracts';
import {
  failureView,
  type GraphPlan,
  isoOf,
  isoOrNull,
  type Ledger,
  type Statement,
  type StudyView as Study,
  type TenantId,
} from '@slowwave/engine';
import { type App, IdParams, notFound, problem, requestTenant } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';

const shown = {
  operationId: 'getStudy',
  tags: ['manage'],
  summary: 'Get what the graph learned from a consolidation',
  description: 'Returns its study: the statements it added, what it rejected and why, and its cost.',
  params: IdParams,
  response: { 200: StudyView },
};

const asked = {
  operationId: 'postStudy',
  tags: ['manage'],
  summary: 'Update the graph from a consolidation',
  description:
    'Starts the study of an applied consolidation that has none, for example because relations were not enabled ' +
    'then, or retries a parked one. Returns immediately; the study runs in the background.',
  params: IdParams,
  response: { 202: StudyView },
};

/** Studies of the graph, by their consolidation. */
export function studyRoutes(app: App, { ledger, tools }: ConsoleDeps): void {
  app.get('/v1/consolidations/:id/graph', { schema: shown }, async (request) => {
    const { id } = request.params;
    return viewOf(ledger, requestTenant(request) as TenantId, id);
  });
  app.post('/v1/consolidations/:id/graph', { schema: asked }, async (request, reply) => {
    const { id } = request.params;
    const tenant = requestTenant(request) as TenantId;
    const consolidation = await ledger.thoughts.get(tenant, id);
    if (consolidation === null) throw notFound('consolidation', id);
    // Whose lane is due now is found by the sweep of the workers.
    if ((await ledger.graph.request(tenant, id, tools.now())) === null) throw nothingToDo(id, consolidation.state);
    return reply.code(202).send(await viewOf(ledger, tenant, id));
  });
}

async function viewOf({ graph }: Ledger, tenant: TenantId, id: string) {
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
  plan: study.plan && planView(study.plan),
});

const planView = ({ entities, statements, proposals, remarks, prompts, usage }: GraphPlan) => ({
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
