import type { Replay } from '../ports/ledger/replays.ts';
import type { JsonObject, Owner } from '../words.ts';
import type { WhatIfResult } from './result.ts';

/** What a replay says, without a word of an owner; null: it says none. For ledgers. */
export function withoutOwner(
  replay: Pick<Replay, 'filter' | 'result'>,
  owner: Owner,
): Pick<Replay, 'filter' | 'result'> | null {
  const { userId, ...rest } = replay.filter;
  const named = owner.kind === 'user' && userId === owner.id;
  const told = replay.result as unknown as WhatIfResult | null;
  const said = [...(told?.differences ?? []), ...(told?.relations?.differences ?? [])];
  if (!named && said.every(isOfOthers(owner))) return null;
  // Without a user it would find everybody: it finds no batch.
  return { filter: named ? { ...rest, ids: [] } : replay.filter, result: told === null ? null : without(told, owner) };
}

function without(told: WhatIfResult, owner: Owner): JsonObject {
  const differences = told.differences.filter(isOfOthers(owner));
  const { relations } = told;
  const others = relations && { ...relations, differences: relations.differences.filter(isOfOthers(owner)) };
  return JSON.parse(JSON.stringify({ ...told, differences, relations: others }));
}

const isOfOthers =
  (owner: Owner) =>
  (one: { readonly owner: Owner }): boolean =>
    one.owner.kind !== owner.kind || one.owner.id !== owner.id;
