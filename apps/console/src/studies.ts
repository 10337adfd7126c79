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
import { IdParams, notFound, problem } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf } from './deps.ts';

const route = routesOf('manage');

/** Studies of the graph, by their consolidation. */
export const studyRoutes = [
  route('GET /v1/consolidations/:id/graph', {
    id: 'getStudy',
    summary: 'Get the graph update of a consolidation',
    description: 'Returns its study: the statements it added, what it rejected and why, and its cost.',
    params: IdParams,
    answer: StudyView,
    handle: async ({ ledger }, { tenant, params }) => viewOf(ledger, tenant, params.id),
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
      return viewOf(ledger, tenant, id);
    },
  }),
];

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
