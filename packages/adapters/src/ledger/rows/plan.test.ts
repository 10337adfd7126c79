import { expect, test } from 'vitest';
import { planFrom } from './plan.ts';

test('a plan of an earlier release reads as one that held nothing back, of unknown cost', () => {
  const earlier = { round: 1, usage: { calls: 2, promptTokens: 10, completionTokens: 5 } };
  expect(planFrom(JSON.stringify(earlier))).toEqual({
    round: 1,
    held: [],
    cost: null,
    usage: { calls: 2, promptTokens: 10, completionTokens: 5, models: [] },
  });
});

test('a plan of this release reads as it was written', () => {
  const models = [{ model: 'm', calls: 1, promptTokens: 1, completionTokens: 1, cost: 0.5 }];
  const plan = {
    held: [{ id: 'rev_1' }],
    cost: 0.5,
    usage: { calls: 1, promptTokens: 1, completionTokens: 1, models },
  };
  expect(planFrom(JSON.stringify(plan))).toEqual(plan);
});
