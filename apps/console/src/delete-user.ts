import { ErasureAccepted, UserParams } from '@slowwave/contracts';
import { requestErasure, type TenantId } from '@slowwave/engine';
import { type App, type Bounds, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

const schema = {
  operationId: 'eraseUser',
  tags: ['manage'],
  summary: 'Erase a user',
  description:
    'Everything a user said and everything that was made of it goes for good: batches, messages, plans, memories, their ' +
    'history, and the id itself. What is posted for the same id from now on is that of a new user. It is done in the ' +
    'background, see the status; asked for again meanwhile, it is the same erasure.',
  params: UserParams,
  response: { 202: ErasureAccepted },
};

const bounds: Bounds = { by: 'user', apps: false };

export function deleteUser(app: App, deps: ConsoleDeps): void {
  app.delete('/v1/users/:id', { schema, config: { bounds } }, async (request, reply) => {
    const owner = { kind: 'user', id: request.params.id } as const;
    const { id, state } = await requestErasure(deps, requestTenant(request) as TenantId, owner);
    const status_url = `/v1/erasures/${id}`;
    return reply.code(202).header('location', status_url).send({ erasure_id: id, state, status_url });
  });
}
