import { DeletedView, DeleteMemoriesQuery } from '@slowwave/contracts';
import { scopeOf, type TenantId } from '@slowwave/engine';
import { type App, type Bounds, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { overtaken } from './refusals.ts';

const schema = {
  operationId: 'deleteMemories',
  tags: ['manage'],
  summary: 'Delete all memories of an owner',
  description: 'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter.',
  querystring: DeleteMemoriesQuery,
  response: { 200: DeletedView, 202: DeletedView },
};

const bounds: Bounds = { by: 'query', apps: true };

export function deleteMemories(app: App, { writer }: ConsoleDeps): void {
  app.delete('/v1/memories', { schema, config: { bounds } }, async (request, reply) => {
    const result = await writer.removeAll(requestTenant(request) as TenantId, scopeOf(request.query));
    if (result.kind === 'conflict') throw overtaken();
    return reply.code(result.kind === 'written' ? 200 : 202).send({ deleted: result.count });
  });
}
