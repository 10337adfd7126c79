import {
  type Limiter,
  type Millis,
  type ModelLimits,
  type Reservation,
  recent,
  type SecondUse,
  secondOf,
  waitFor,
} from '@slowwave/engine';

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
    correct: async (model, id, tokens) => void accounts.set(model, correctIn(accountOf(model), id, Math.ceil(tokens))),
    pause: async (model, ms) => void accounts.set(model, pauseIn(accountOf(model), now() + ms)),
    close: async () => {},
  };
}

/** For accounts that nobody else sees and that end with the process: what is set on the machine's clock moves no pause. */
export const steadyNow = (): Millis => performance.timeOrigin + performance.now();

/** What one model has been granted lately, and until when its provider wants to be left alone. */
export interface Account {
  readonly uses: readonly SecondUse[];
  readonly pausedUntil: Millis;
}

export const NEW_ACCOUNT: Account = { uses: [], pausedUntil: 0 };

interface Reserved {
  readonly account: Account;
  readonly answer: Reservation;
}

export function reserveIn(
  account: Account,
  limits: ModelLimits,
  { now, tokens }: { now: Millis; tokens: number },
): Reserved {
  const uses = recent(account.uses, now);
  const ms = Math.max(account.pausedUntil - now, waitFor(uses, limits, { now, tokens }));
  if (ms > 0) return { account: { ...account, uses }, answer: { kind: 'wait', ms } };
  const second = secondOf(now);
  const grown = added(uses, { second, requests: 1, tokens });
  return { account: { ...account, uses: grown }, answer: { kind: 'granted', id: reservationId(second, tokens) } };
}

/** Only a second that still counts is corrected. */
export function correctIn(account: Account, id: string, tokens: number): Account {
  const reserved = reservedIn(id);
  if (reserved === null) return account;
  const more = tokens - reserved.tokens;
  const uses = account.uses.map((use) =>
    use.second === reserved.second ? { ...use, tokens: Math.max(0, use.tokens + more) } : use,
  );
  return { ...account, uses };
}

export const pauseIn = (account: Account, until: Millis): Account => ({
  ...account,
  pausedUntil: Math.max(account.pausedUntil, until),
});

function added(uses: readonly SecondUse[], use: SecondUse): readonly SecondUse[] {
  const same = uses.find((other) => other.second === use.second);
  if (same === undefined) return [...uses, use];
  const sum = { second: use.second, requests: same.requests + use.requests, tokens: same.tokens + use.tokens };
  return [...uses.filter((other) => other !== same), sum];
}

/** A reservation says itself what it holds: nothing has to be remembered between reserving and settling. */
export const reservationId = (second: number, tokens: number): string => `${second}~${tokens}`;

export function reservedIn(id: string): { readonly second: number; readonly tokens: number } | null {
  const found = /^(\d+)~(\d+)$/u.exec(id);
  return found === null ? null : { second: Number(found[1]), tokens: Number(found[2]) };
}
