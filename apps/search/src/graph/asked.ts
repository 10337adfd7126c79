import {
  type Entity,
  type GraphAsked,
  type KeptRelation,
  type Ledger,
  millisOf,
  type Owner,
  ownerOf,
  type ScopeIds,
  scopeOf,
  type TenantId,
} from '@slowwave/engine';
import { type FastifyRequest, mayKnow, notFound, requestTenant } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';

interface TimeAsked {
  readonly as_of?: string | undefined;
  readonly ended?: boolean | 'true' | 'false';
}

/** The graph that a request is about; null: the owner has none yet. */
export async function graphAsked(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  request: FastifyRequest,
  asked: ScopeIds & TimeAsked,
): Promise<GraphAsked | null> {
  const tenant = requestTenant(request) as TenantId;
  const owner = ownerAsked(asked);
  const lane = await ledger.lanes.find(tenant, owner);
  return lane === null ? null : { tenant, owner, lane: lane.id, at: timeAsked(asked) };
}

export const ownerAsked = (ids: ScopeIds): Owner => ownerOf(scopeOf(ids));

/** null: what is true now. */
export function timeAsked({ as_of, ended = false }: TimeAsked): GraphAsked['at'] {
  if (as_of !== undefined) return millisOf(as_of);
  return String(ended) === 'true' ? 'ever' : null;
}

type Graph = Pick<Ledger, 'graph'>;

/** An entity that the key may see and that is not undone. */
export async function existingEntity({ graph }: Graph, request: FastifyRequest, id: string): Promise<Entity> {
  const [entity] = await graph.entities(requestTenant(request) as TenantId, [id]);
  if (entity === undefined || !entity.counts || !mayKnowOf(request, entity.owner)) throw notFound('entity', id);
  return entity;
}

export async function existingRelation({ graph }: Graph, request: FastifyRequest, id: string): Promise<KeptRelation> {
  const relation = await graph.relation(requestTenant(request) as TenantId, id);
  if (relation === null || !mayKnowOf(request, relation.owner)) throw notFound('relation', id);
  return relation;
}

const mayKnowOf = (request: FastifyRequest, { kind, id }: Owner): boolean =>
  mayKnow(request, { userId: kind === 'user' ? id : null, appId: null });
