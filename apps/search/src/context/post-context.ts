import { ContextResult, PostContext } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, refuseForOneApp, requestTenant } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { filterOf } from '../filters.ts';
import { NO_RELATIONS } from '../relations.ts';
import { context } from './context.ts';

const schema = {
  operationId: 'context',
  tags: ['search'],
  summary: 'Get what is known about an owner, formatted for a prompt',
  description:
    'Returns one block within a token budget: the profile, the summary of the conversation, the memories relevant ' +
    'to a query or to the last messages, and messages that are not consolidated yet. Each memory has a date and a ' +
    'citation mark. ' +
    'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter.',
  body: PostContext,
  response: { 200: ContextResult },
};

export function postContext(app: App, deps: SearchDeps): void {
  app.post('/v1/context', { schema, config: { bounds: { by: 'body', apps: true } } }, async (request) => {
    if (request.body.sections?.includes('relations')) refuseForOneApp(request, NO_RELATIONS);
    return context(deps, {
      tenant: requestTenant(request) as TenantId,
      body: request.body,
      where: filterOf(request.body.filters),
    });
  });
}
