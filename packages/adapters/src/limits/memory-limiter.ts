import { type Limiter, type ModelLimits, recent, type SecondUse, secondOf, waitFor } from '@slowwave/engine';
import { reservationId, reservedIn } from './reservation-id.ts';

/** What one model has been granted lately. */
interface Account {
  uses: readonly SecondUse[];
  pausedUntil: number;
}

/** A limiter for one process that works alone. */
export function memoryLimiter(limits: ModelLimits, now: () => number = Date.now): Limiter {
  const accounts = new Map<string, Account>();
  const accountOf = (model: string): Account => {
    const account = accounts.get(model) ?? { uses: [], pausedUntil: 0 };
    accounts.set(model, account);
    account.uses = recent(account.uses, now());
    return account;
  };
  return {
    reserve: async (model, tokens) => {
      const account = accountOf(model);
      const at = now();
      const ms = Math.max(account.pausedUntil - at, waitFor(account.uses, limits, { now: at, tokens }));
      if (ms > 0) return { kind: 'wait', ms };
      account.uses = added(account.uses, { second: secondOf(at), requests: 1, tokens });
      return { kind: 'granted', id: reservationId(secondOf(at), tokens) };
    },
    settle: async (model, id, tokens) => {
      const reserved = reservedIn(id);
      if (reserved === null) return;
      const account = accountOf(model);
      account.uses = account.uses.map((use) =>
        use.second === reserved.second ? { ...use, tokens: Math.max(0, use.tokens + tokens - reserved.tokens) } : use,
      );
    },
    pause: async (model, ms) => {
      const account = accountOf(model);
      account.pausedUntil = Math.max(account.pausedUntil, now() + ms);
    },
    close: async () => {},
  };
}

function added(uses: readonly SecondUse[], use: SecondUse): readonly SecondUse[] {
  const same = uses.find((other) => other.second === use.second);
  if (same === undefined) return [...uses, use];
  const sum = { second: use.second, requests: same.requests + use.requests, tokens: same.tokens + use.tokens };
  return [...uses.filter((other) => other !== same), sum];
}
