import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { dayOf } from '../text/dates.ts';
import { budgetWait, costOf, hasBudget, usedUp, usesOf } from './limits.ts';

const HOUR = 3_600_000;
const MIDNIGHT = Date.UTC(2026, 2, 2);
const use = (promptTokens: number, completionTokens = 0, cost = 0) => ({
  model: 'chat',
  step: 'extract' as const,
  calls: 1,
  failedCalls: 0,
  promptTokens,
  cachedTokens: 0,
  completionTokens,
  cost,
});
const embedded = (promptTokens: number, cost: number) => ({
  ...use(promptTokens, 0, cost),
  step: 'embed' as const,
});
const budgets = (given: object) => ({ ...DEFAULT_SETTINGS.budgets, ...given });

describe('a budget', () => {
  it('is none unless one is chosen', () => {
    const day = { tenant: [use(1e9, 0, 1e3)], lane: [use(1e9, 0, 1e3)] };
    expect(hasBudget(DEFAULT_SETTINGS.budgets)).toBe(false);
    expect(usedUp(DEFAULT_SETTINGS.budgets, day)).toBeNull();
    expect(hasBudget(budgets({ userCostPerDay: 1 }))).toBe(true);
  });

  it.each([
    ['tokensPerDay', 1_500],
    ['costPerDay', 0.02],
    ['userTokensPerDay', 300],
    ['userCostPerDay', 0.004],
  ])('%s is used up from its limit on, and not before', (name, limit) => {
    const day = {
      tenant: [use(500, 750, 0.015), use(250), embedded(90_000, 0.005)],
      lane: [use(200, 100, 0.003), embedded(8_000, 0.001)],
    };
    expect(usedUp(budgets({ [name]: limit }), day)).toContain(`is ${limit}, and ${limit} have been used`);
    expect(usedUp(budgets({ [name]: limit * 1.01 }), day)).toBeNull();
  });

  it('of 0 lets nothing through', () => {
    expect(usedUp(budgets({ tokensPerDay: 0 }), { tenant: [], lane: [] })).toContain('tokens_per_day is 0');
  });
});

describe('what is over budget', () => {
  it('waits for the next day of UTC, and looks again every five minutes', () => {
    expect(dayOf(MIDNIGHT - 1)).toBe(dayOf(MIDNIGHT) - 1);
    expect(budgetWait(MIDNIGHT + HOUR)).toBe(300_000);
    expect(budgetWait(MIDNIGHT - 1_000)).toBe(1_000);
  });
});

const answer = (model: string, promptTokens: number, completionTokens: number) => ({
  model,
  usage: { promptTokens, completionTokens },
});

describe('the cost of a plan', () => {
  it('is what its models cost together, each told apart', () => {
    const own = { small: { prompt: 1, completion: 2 }, large: { prompt: 10, completion: 20 } };
    const answers = [answer('small', 1_000, 100), answer('large', 500, 50), answer('small', 2_000, 300)];
    const uses = usesOf(answers, own);
    expect(uses).toEqual([
      { model: 'small', calls: 2, promptTokens: 3_000, completionTokens: 400, cost: 0.0038 },
      { model: 'large', calls: 1, promptTokens: 500, completionTokens: 50, cost: 0.006 },
    ]);
    expect(costOf(uses)).toBeCloseTo(0.0098, 10);
  });

  it('is not known when one model has no price', () => {
    const uses = usesOf([answer('builtin', 10, 10), answer('my-own-model', 10, 10)], {});
    expect(uses.map((use) => use.cost)).toEqual([0, null]);
    expect(costOf(uses)).toBeNull();
  });

  it('is nothing where no model was asked', () => {
    expect(costOf(usesOf([], {}))).toBe(0);
  });

  it('goes by the list where the tenant names no price, also for a dated name of the model', () => {
    const [listed] = usesOf([answer('gpt-4o-mini-2024-07-18', 1_000_000, 0)], {});
    const [own] = usesOf([answer('gpt-4o-mini-2024-07-18', 1_000_000, 0)], {
      'gpt-4o-mini': { prompt: 9, completion: 9 },
    });
    expect(listed?.cost).toBeGreaterThan(0);
    expect(own?.cost).toBe(9);
  });

  it('of what was answered in a batch is half, or the share that its price says', () => {
    const own = { mine: { prompt: 8, cached: 4, completion: 10, batch: 0.25 } };
    const uses = usesOf(
      [answer('gpt-4.1-mini (batch)', 1_000_000, 0), answer('mine (batch)', 1_000_000, 100_000)],
      own,
    );
    expect(uses.map(({ cost }) => cost)).toEqual([0.2, 2.25]);
    expect(usesOf([answer('nobody (batch)', 1, 1)], own)[0]?.cost).toBeNull();
  });

  it('takes no price from what every object has', () => {
    expect(usesOf([answer('constructor', 1, 1)], {})[0]?.cost).toBeNull();
  });
});
