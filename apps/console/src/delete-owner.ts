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
      'Permanently erases everything a user said and everything derived from it, including batches and memories ' +
      'that also name an agent or run',
  },
  {
    kind: 'agent',
    operationId: 'eraseAgent',
    summary: 'Erase an agent',
    about:
      'Permanently erases everything posted for an agent without a user, and everything derived from it. Batches and memories of a user that name the agent belong to the user and stay unchanged, including the agent_id. Erased',
  },
  {
    kind: 'run',
    operationId: 'eraseRun',
    summary: 'Erase a run',
    about:
      'Permanently erases everything posted for a run without a user or agent, and everything derived from it. ' +
      'Batches and memories of a user or agent that name the run belong to them and stay unchanged, including the ' +
      'run_id. Erased',
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
      'id later starts afresh. The erasure runs in the background; poll its status. Repeating the request while it ' +
      'runs returns the same erasure.',
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
