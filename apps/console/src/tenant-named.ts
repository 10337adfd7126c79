import type { TenantId } from '@slowwave/engine';
import { isOperator, principalOf, problem } from '@slowwave/http';
import type { FastifyRequest } from 'fastify';

/** Which tenant is meant: the own one, unless an operator names another one. */
export function tenantNamed(request: FastifyRequest, named: string | undefined): TenantId {
  const principal = principalOf(request);
  if (named === undefined || named === principal.tenant || isOperator(principal))
    return (named ?? principal.tenant) as TenantId;
  throw problem('scope_missing', 'only admins of the tenant default can manage other tenants');
}
