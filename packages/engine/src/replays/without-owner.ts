import type { Replay } from '../ports/ledger/replays.ts';
import type { Owner } from '../words.ts';
import type { WhatIfResult } from './result.ts';

/** What a replay says, without a word of an owner; null: it says none. For ledgers. */
export function withoutOwner(
  replay: Pick<Replay, 'filter' | 'result'>,
  owner: Owner,
): Pick<Replay, 'filter' | 'result'> | null {
  const { userId, ...rest } = replay.filter;
  const named = owner.kind === 'user' && userId === owner.id;
  const told = replay.result as unknown as WhatIfResult | null;
  const differences =
    told?.differences.filter((one) => one.owner.kind !== owner.kind || one.owner.id !== owner.id) ?? [];
  if (!named && differences.length === (told?.differences.length ?? 0)) return null;
  return {
    filter: named ? rest : replay.filter,
    result: replay.result === null ? null : { ...replay.result, differences: JSON.parse(JSON.stringify(differences)) },
  };
}
