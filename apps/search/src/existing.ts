import type { Ledger, Memory, TenantId } from '@slowwave/engine';
import { type FastifyRequest, mayKnow, notFound, requestTenant } from '@slowwave/http';

/** A memory that who asks may know of, deleted or not. */
export async function existing(ledger: Ledger, request: FastifyRequest, id: string): Promise<Memory> {
  const memory = await ledger.memories.get(requestTenant(request) as TenantId, id);
  if (memory === null || !mayKnow(request, memory.scope)) throw notFound('memory', id);
  return memory;
}
