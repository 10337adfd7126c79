import { DeletedView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { written } from './refusals.ts';

const schema = {
  operationId: 'deleteMemory',
  tags: ['manage'],
  summary: 'Delete a memory',
  description: 'It is no longer valid or found by searches. Its history is kept.',
  params: IdParams,
  response: { 200: DeletedView, 202: DeletedView },
};

export function deleteMemory(app: App, { writer }: ConsoleDeps): void {
  app.delete('/v1/memories/:id', { schema }, async (request, reply) => {
    const { id } = request.params;
    const { searchable } = written(await writer.remove(requestTenant(request) as TenantId, id), id);
    return reply.code(searchable ? 200 : 202).send({ deleted: 1 });
  });
}
