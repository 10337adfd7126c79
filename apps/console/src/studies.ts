import { StudyView } from '@slowwave/contracts';
import type { Ledger, TenantId } from '@slowwave/engine';
import { type App, IdParams, notFound, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { studyView } from './views/study.ts';

const shown = {
  operationId: 'getStudy',
  tags: ['manage'],
  summary: 'What the graph learned from a consolidation',
  description: 'Its study: the statements it added, what it refused and why, and its cost.',
  params: IdParams,
  response: { 200: StudyView },
};

const asked = {
  operationId: 'postStudy',
  tags: ['manage'],
  summary: 'Have the graph learn from a consolidation',
  description:
    'Makes the study of an applied consolidation that has none, such as one from before relations were kept, or tries a ' +
    'parked one again. The answer comes at once; the study is made in the background.',
  params: IdParams,
  response: { 202: StudyView },
};

/** Studies of the graph, by their consolidation. */
export function studies(app: App, { ledger, tools }: ConsoleDeps): void {
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
      'GET the same address shows the study it has',
  );
