import { ErasureAccepted, OwnerParams } from '@slowwave/contracts';
import { type Owner, requestErasure, type TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

interface Erasable {
  readonly kind: Owner['kind'];
  readonly operationId: string;
  readonly summary: string;
  /** What goes, and what names the owner and stays. */
  readonly about: string;
}

const ERASABLE: readonly Erasable[] = [
  {
    kind: 'user',
    operationId: 'eraseUser',
    summary: 'Erase a user',
    about:
      'Everything a user said and everything that was made of it goes for good, whatever agent or run it names as well',
  },
  {
    kind: 'agent',
    operationId: 'eraseAgent',
    summary: 'Erase an agent',
    about:
      "Everything posted for an agent alone, or with a run, and everything that was made of it goes for good. A user's " +
      "batches and memories that name the agent are the user's, and stay as they are, with its id. What goes",
  },
  {
    kind: 'run',
    operationId: 'eraseRun',
    summary: 'Erase a run',
    about:
      'Everything posted for a run alone and everything that was made of it goes for good. Batches and memories of a user ' +
      'or an agent that name the run are theirs, and stay as they are, with its id. What goes',
  },
];

/** Whoever can own memories can be erased; an app only tells those of others apart. */
export function deleteOwner(app: App, deps: ConsoleDeps): void {
  for (const one of ERASABLE) eraseRoute(app, deps, one);
}

function eraseRoute(app: App, deps: ConsoleDeps, { kind, operationId, summary, about }: Erasable): void {
  const schema = {
    operationId,
    tags: ['manage'],
    summary,
    description:
      `${about}: batches, messages, plans, memories, their history, and the owner's own id. What is posted for the same ` +
      'id from now on begins anew. It is done in the background, see the status; asked for again meanwhile, it is the ' +
      'same erasure.',
    params: OwnerParams,
    response: { 202: ErasureAccepted },
  };
  app.delete(`/v1/${kind}s/:id`, { schema, config: { bounds: { by: kind, apps: false } } }, async (request, reply) => {
    const owner = { kind, id: request.params.id };
    const { id, state } = await requestErasure(deps, requestTenant(request) as TenantId, owner);
    const status_url = `/v1/erasures/${id}`;
    return reply.code(202).header('location', status_url).send({ erasure_id: id, state, status_url });
  });
}
