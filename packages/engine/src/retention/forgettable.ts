import { liveVersion } from '../memories/evolve.ts';
import { isPinned } from '../memories/pinned.ts';
import type { ForgettingPolicy } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import type { Memory, Millis } from '../words.ts';

/** Why a policy forgets a memory. */
export type ForgettingCause = 'age' | 'unconfirmed' | 'budget';

export interface Forgettable {
  readonly memory: Memory;
  readonly cause: ForgettingCause;
}

/** Which memories of one owner a policy forgets now. Pinned ones count for the budget, and are never among them. */
export function forgettable(all: readonly Memory[], policy: ForgettingPolicy, now: Millis): readonly Forgettable[] {
  const live = all.filter((memory) => liveVersion(memory) !== null);
  const free = live.filter((memory) => !isPinned(memory));
  const old = free.flatMap((memory): Forgettable[] => {
    const cause = outlived(memory, policy, now);
    return cause === null ? [] : [{ memory, cause }];
  });
  const gone = new Set(old.map(({ memory }) => memory));
  const over = live.length - gone.size - (policy.maxMemories ?? live.length);
  const weakest = free.filter((memory) => !gone.has(memory)).sort(weakestFirst);
  const surplus = weakest.slice(0, Math.max(0, over));
  return [...old, ...surplus.map((memory) => ({ memory, cause: 'budget' }) as const)];
}

function outlived(memory: Memory, policy: ForgettingPolicy, now: Millis): ForgettingCause | null {
  const isOver = (since: Millis, days: number | null): boolean => days !== null && now - since > days * DAY_MS;
  if (isOver(memory.updatedAt, policy.maxAgeDays)) return 'age';
  return isOver(lastSaid(memory), policy.unconfirmedDays) ? 'unconfirmed' : null;
}

const lastSaid = ({ updatedAt, lastConfirmedAt }: Memory): Millis => Math.max(updatedAt, lastConfirmedAt ?? 0);

const weakestFirst = (a: Memory, b: Memory): number =>
  a.confirmations - b.confirmations || lastSaid(a) - lastSaid(b) || (a.id < b.id ? -1 : 1);
