import type { Ledger, Memory, TenantId } from '@slowwave/engine';
import { notFound } from '@slowwave/http';

/** A memory of the tenant, deleted or not. */
export async function existing(ledger: Ledger, tenant: TenantId, id: string): Promise<Memory> {
  const memory = await ledger.memories.get(tenant, id);
  if (memory === null) throw notFound('memory', id);
  return memory;
}
