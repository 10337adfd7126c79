import { PostRecall, RecallResult } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, requestTenant, waitSignal } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { emptyQuery } from '../empty-query.ts';
import { filterOf } from '../filters.ts';
import { recall } from './recall.ts';

const schema = {
  operationId: 'recall',
  tags: ['search'],
  summary: 'Answer a question from memories, with citations',
  description:
    'A chat model searches the memories and messages of one owner several times, reads the context of what it ' +
    'finds, and answers only from that. trail lists what it searched for and read. Without a chat model, the ' +
    'answer is the best matching memories.',
  body: PostRecall,
  response: { 200: RecallResult },
};

export function postRecall(app: App, deps: SearchDeps): void {
  app.post('/v1/recall', { schema, config: { bounds: { by: 'body', apps: true } } }, async (request, reply) => {
    if (request.body.query.trim() === '') throw emptyQuery();
    const tenant = requestTenant(request) as TenantId;
    const where = filterOf(request.body.filters);
    return recall(deps, { tenant, body: request.body, where, cancel: waitSignal(reply) });
  });
}
