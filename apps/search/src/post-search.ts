import { PostSearch, SearchResult } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, refuseForOneApp, requestTenant } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';
import { emptyQuery } from './empty-query.ts';
import { filterOf } from './filters.ts';
import { NO_RELATIONS } from './relations.ts';
import { search } from './search.ts';

const schema = {
  operationId: 'search',
  tags: ['search'],
  summary: 'Search memories by meaning and keywords',
  description:
    'Searches the memories of one owner: the first of user_id, agent_id and run_id that is set. The other ids only ' +
    'filter. score orders the results of one query; scores (on request) show how well each result matches.',
  body: PostSearch,
  response: { 200: SearchResult },
};

export function postSearch(app: App, deps: SearchDeps): void {
  app.post('/v1/search', { schema, config: { bounds: { by: 'body', apps: true } } }, async (request) => {
    if (request.body.query.trim() === '') throw emptyQuery();
    if (request.body.include.includes('relations')) refuseForOneApp(request, NO_RELATIONS);
    const where = filterOf(request.body.filters);
    return search(deps, { tenant: requestTenant(request) as TenantId, body: request.body, where });
  });
}
