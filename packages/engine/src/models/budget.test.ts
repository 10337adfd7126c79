import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { dayOf } from '../text/dates.ts';
import { budgetWait, hasBudget, usedUp } from './budget.ts';

const HOUR = 3_600_000;
const MIDNIGHT = Date.UTC(2026, 2, 2);
const use = (model: string, promptTokens: number, completionTokens = 0) => ({
  model,
  calls: 1,
  failedCalls: 0,
  promptTokens,
  completionTokens,
});
const settings = (budgets: object) => ({
  ...DEFAULT_SETTINGS,
  prices: { dear: { prompt: 10, completion: 20 } },
  budgets: { ...DEFAULT_SETTINGS.budgets, ...budgets },
});

describe('a budget', () => {
  it('is none unless one is chosen', () => {
    const day = { tenant: [use('dear', 1e9)], lane: [use('dear', 1e9)] };
    expect(hasBudget(DEFAULT_SETTINGS.budgets)).toBe(false);
    expect(usedUp(DEFAULT_SETTINGS, day)).toBeNull();
    expect(hasBudget(settings({ userCostPerDay: 1 }).budgets)).toBe(true);
  });

  it.each([
    ['tokensPerDay', 1_500],
    ['costPerDay', 0.02],
    ['userTokensPerDay', 300],
    ['userCostPerDay', 0.004],
  ])('%s is used up from its limit on, and not before', (name, limit) => {
    const day = { tenant: [use('dear', 500, 750), use('free', 250)], lane: [use('dear', 200, 100)] };
    expect(usedUp(settings({ [name]: limit }), day)).toContain(`is ${limit}, and ${limit} are used`);
    expect(usedUp(settings({ [name]: limit * 1.01 }), day)).toBeNull();
  });

  it('of 0 lets nothing through', () => {
    expect(usedUp(settings({ tokensPerDay: 0 }), { tenant: [], lane: [] })).toContain('tokens_per_day is 0');
  });
});

describe('what is over budget', () => {
  it('waits for the next day of UTC, and looks again every five minutes', () => {
    expect(dayOf(MIDNIGHT - 1)).toBe(dayOf(MIDNIGHT) - 1);
    expect(budgetWait(MIDNIGHT + HOUR)).toBe(300_000);
    expect(budgetWait(MIDNIGHT - 1_000)).toBe(1_000);
  });
});
