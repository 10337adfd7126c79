import type { EngineDeps } from '../deps.ts';
import { ownerHashOf } from '../ids.ts';
import type { Erasure } from '../ports/ledger/erasures.ts';
import type { NewTrailEntry, TrailEntry } from '../ports/ledger/tenants.ts';
import type { Millis, Owner, TenantId } from '../words.ts';

/** Stores that an owner is to be erased. From now on nothing of it is consolidated, written or listed. */
export function requestErasure(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  tenant: TenantId,
  owner: Owner,
): Promise<Erasure> {
  const ownerHash = ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner });
  return ledger.erasures.request(tenant, owner, { id: tools.id('ers'), ownerHash, now: tools.now() });
}

/** An owner that was erased, or is being erased. */
export interface ErasedOwner {
  readonly ownerHash: string;
  readonly erasureId: string;
  /** null: it is not over. */
  readonly erasedAt: Millis | null;
}

/** Entries as they may be kept: those from before the erasure of their owner was over do not name the owner. */
export function withoutErased(
  entries: readonly NewTrailEntry[],
  erased: readonly ErasedOwner[],
): readonly NewTrailEntry[] {
  if (erased.length === 0) return entries;
  return entries.map((entry) => {
    const erasure = erased.find(
      ({ ownerHash, erasedAt }) => ownerHash === entry.ownerHash && (erasedAt === null || entry.at <= erasedAt),
    );
    return erasure === undefined ? entry : forgetSubject(entry, erasure.erasureId);
  });
}

/** The entry without the owner's id: in its subject, and in the id a caller has given the request. */
export function forgetSubject<Entry extends TrailEntry>(entry: Entry, erasureId: string): Entry {
  const { subject, requestId } = entry;
  const named = subject !== null && requestId?.includes(subject.id) === true;
  return { ...entry, subject: { kind: 'erasure', id: erasureId }, requestId: named ? null : requestId };
}
