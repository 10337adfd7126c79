import type { EngineDeps } from '../deps.ts';
import type { Erasure } from '../ports/ledger/erasures.ts';
import type { Owner, TenantId } from '../words.ts';
import { ownerHashOf } from './owner-hash.ts';

/** Stores that an owner is to be erased. From now on nothing of it is consolidated, written or listed. */
export function requestErasure(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  tenant: TenantId,
  owner: Owner,
): Promise<Erasure> {
  const ownerHash = ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner });
  return ledger.erasures.request(tenant, owner, { id: tools.id('ers'), ownerHash, now: tools.now() });
}
