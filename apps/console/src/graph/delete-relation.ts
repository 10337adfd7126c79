import { DeletedView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { changed } from './answered.ts';

const schema = {
  operationId: 'deleteRelation',
  tags: ['graph'],
  summary: 'Deny a relation',
  description:
    'States that the relation is not true and never was. Earlier statements no longer show it, and relations that ' +
    'it ended are valid again. Its history is kept. To end a relation instead, PATCH it with invalid_at.',
  params: IdParams,
  response: { 200: DeletedView, 202: DeletedView },
};

export function deleteRelation(app: App, { graphWriter }: ConsoleDeps): void {
  app.delete('/v1/relations/:id', { schema }, async (request, reply) => {
    const { code } = changed(await graphWriter.remove(requestTenant(request) as TenantId, request.params.id));
    return reply.code(code).send({ deleted: 1 });
  });
}
