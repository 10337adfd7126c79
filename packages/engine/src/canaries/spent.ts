import type { Spent } from '../ports/ledger/canaries.ts';

export const NOTHING_SPENT: Spent = { calls: 0, tokens: 0, cost: 0 };

export const addSpent = (a: Spent, b: Spent): Spent => ({
  calls: a.calls + b.calls,
  tokens: a.tokens + b.tokens,
  cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
});
