import { ListRelationsQuery, RelationList } from '@slowwave/contracts';
import { relationView, type TenantId } from '@slowwave/engine';
import { type App, listed, pageOf, requestTenant } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { ownerAsked, timeAsked } from './whose.ts';

const schema = {
  operationId: 'listRelations',
  tags: ['graph'],
  summary: "List the relations of an owner's graph, oldest first",
  querystring: ListRelationsQuery,
  response: { 200: RelationList },
};

export function listRelations(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/relations', { schema, config: { bounds: { by: 'query', apps: false } } }, async (request) => {
    const { relationship } = request.query;
    const tenant = requestTenant(request) as TenantId;
    const filter = { at: timeAsked(request.query), ...(relationship !== undefined && { relationship }) };
    const page = pageOf(request.query);
    return listed(await ledger.graph.listRelations(tenant, ownerAsked(request.query), filter, page), relationView);
  });
}
