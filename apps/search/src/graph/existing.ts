import type { Entity, KeptRelation, Ledger, Owner, TenantId } from '@slowwave/engine';
import { type FastifyRequest, mayKnow, notFound, requestTenant } from '@slowwave/http';

type Graph = Pick<Ledger, 'graph'>;

/** An entity that who asks may know of; one that is undone is nobody's to see. */
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
