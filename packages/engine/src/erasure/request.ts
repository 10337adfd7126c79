import type { EngineDeps } from '../deps.ts';
import { ownerHashOf, spaceOf } from '../ids.ts';
import type { Erasure } from '../ports/ledger/erasures.ts';
import { pages } from '../ports/ledger/ledger.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { NewTrailEntry, TrailEntry } from '../ports/ledger/tenants.ts';
import type { WhatIfResult } from '../replays/result.ts';
import type { JsonObject, Millis, Owner, TenantId } from '../words.ts';

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

/** What a replay says, without a word of an owner; null: it says none. For ledgers. */
export function withoutOwner(
  replay: Pick<Replay, 'filter' | 'result'>,
  owner: Owner,
): Pick<Replay, 'filter' | 'result'> | null {
  const { userId, ...rest } = replay.filter;
  const named = owner.kind === 'user' && userId === owner.id;
  const found = replay.result as unknown as WhatIfResult | null;
  const said = [...(found?.differences ?? []), ...(found?.relations?.differences ?? [])];
  if (!named && said.every(isOfOthers(owner))) return null;
  // Without a user it would find everybody: it finds no batch.
  return {
    filter: named ? { ...rest, ids: [] } : replay.filter,
    result: found === null ? null : without(found, owner),
  };
}

function without(found: WhatIfResult, owner: Owner): JsonObject {
  const differences = found.differences.filter(isOfOthers(owner));
  const { relations } = found;
  const others = relations && { ...relations, differences: relations.differences.filter(isOfOthers(owner)) };
  return JSON.parse(JSON.stringify({ ...found, differences, relations: others }));
}

const isOfOthers =
  (owner: Owner) =>
  (one: { readonly owner: Owner }): boolean =>
    one.owner.kind !== owner.kind || one.owner.id !== owner.id;

/** Who is erased is erased from the shadow spaces of the tenant as well, and from what its replays say of whom they are. */
export async function forgetInReplays(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  tenant: TenantId,
  owner: Owner,
): Promise<void> {
  const { replays, lanes } = deps.ledger;
  for await (const { id, kind, state } of pages((page) => replays.list(tenant, page))) {
    if (kind === 'live' || state === 'discarded') continue;
    const space = spaceOf({ tenant, replay: id });
    if ((await lanes.find(space, owner)) !== null) await requestErasure(deps, space, owner);
  }
  await replays.forget(tenant, owner);
}
