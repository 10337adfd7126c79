import type { TenantId } from '@slowwave/engine';
import { isOperator, principalOf, problem } from '@slowwave/http';
import type { FastifyRequest } from 'fastify';

/** Whose keys are meant: those of the own tenant, unless an operator names another one. */
export function tenantOfKeys(request: FastifyRequest, named: string | undefined): TenantId {
  const principal = principalOf(request);
  if (named === undefined || named === principal.tenant || isOperator(principal))
    return (named ?? principal.tenant) as TenantId;
  throw problem('scope_missing', 'only admins of the tenant default look after the keys of other tenants');
}
