import type { EngineDeps } from '../deps.ts';
import { requestErasure } from '../erasure/request.ts';
import { spaceOf } from '../ids.ts';
import { pages } from '../ports/ledger/ledger.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { JsonObject, Owner, TenantId } from '../words.ts';
import type { WhatIfResult } from './result.ts';

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
