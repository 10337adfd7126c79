import type { Limiter, ModelLimits } from '@slowwave/engine';
import { type Account, NEW_ACCOUNT, pauseIn, reserveIn, settleIn, steadyNow } from './account.ts';

/** A limiter for one process that works alone. */
export function memoryLimiter(limits: ModelLimits, now: () => number = steadyNow): Limiter {
  const accounts = new Map<string, Account>();
  const accountOf = (model: string): Account => accounts.get(model) ?? NEW_ACCOUNT;
  return {
    reserve: async (model, tokens) => {
      const { account, answer } = reserveIn(accountOf(model), limits, { now: now(), tokens: Math.ceil(tokens) });
      accounts.set(model, account);
      return answer;
    },
    settle: async (model, id, tokens) => void accounts.set(model, settleIn(accountOf(model), id, Math.ceil(tokens))),
    pause: async (model, ms) => void accounts.set(model, pauseIn(accountOf(model), now() + ms)),
    close: async () => {},
  };
}
