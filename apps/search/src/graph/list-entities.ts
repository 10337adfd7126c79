import { EntityList, ListEntitiesQuery } from '@slowwave/contracts';
import { entityView, normaliseText, type TenantId } from '@slowwave/engine';
import { type App, listed, pageOf, requestTenant } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { ownerAsked } from './whose.ts';

const schema = {
  operationId: 'listEntities',
  tags: ['graph'],
  summary: "List the entities of an owner's graph, by name",
  querystring: ListEntitiesQuery,
  response: { 200: EntityList },
};

export function listEntities(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/entities', { schema, config: { bounds: { by: 'query', apps: false } } }, async (request) => {
    const { like } = request.query;
    const tenant = requestTenant(request) as TenantId;
    const filter = like === undefined ? {} : { like: normaliseText(like) };
    const entities = await ledger.graph.listEntities(tenant, ownerAsked(request.query), filter, pageOf(request.query));
    return listed(entities, entityView);
  });
}
