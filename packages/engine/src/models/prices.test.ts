import { describe, expect, it } from 'vitest';
import { costOf, usesOf } from './budget.ts';

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

  it('takes no price from what every object has', () => {
    expect(usesOf([answer('constructor', 1, 1)], {})[0]?.cost).toBeNull();
  });
});
