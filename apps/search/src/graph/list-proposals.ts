import { ListProposalsQuery, ProposalList } from '@slowwave/contracts';
import { entityView, type TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { ownerAsked } from './whose.ts';

const schema = {
  operationId: 'listProposals',
  tags: ['graph'],
  summary: 'List entities that may be the same, for a person to decide',
  description: 'Use POST /v1/entities/{id}/merge if they are the same, POST /v1/entities/{id}/split if they are not.',
  querystring: ListProposalsQuery,
  response: { 200: ProposalList },
};

export function listProposals(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/graph/proposals', { schema, config: { bounds: { by: 'query', apps: false } } }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const found = await ledger.graph.proposals(tenant, ownerAsked(request.query));
    const results = found.map(({ source, destination, likeness }) => ({
      source: entityView(source),
      destination: entityView(destination),
      likeness,
    }));
    return { results, next_cursor: null };
  });
}
