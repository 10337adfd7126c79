import { PostRestore, WrittenMemory } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { written } from './refusals.ts';

const schema = {
  operationId: 'restoreMemory',
  tags: ['manage'],
  summary: 'Restore a version of a memory',
  description:
    'Its text and details become current again, even if the memory was deleted or undone. An expired version is ' +
    'restored without an expiry date.',
  params: IdParams,
  body: PostRestore,
  response: { 200: WrittenMemory, 202: WrittenMemory },
};

export function postRestore(app: App, { writer }: ConsoleDeps): void {
  app.post('/v1/memories/:id/restore', { schema }, async (request, reply) => {
    const { id } = request.params;
    const result = await writer.restore(requestTenant(request) as TenantId, id, request.body.version);
    const { view, searchable } = written(result, id);
    return reply.code(searchable ? 200 : 202).send(view);
  });
}
