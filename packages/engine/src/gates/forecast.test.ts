import { engineBench, talkInRounds, talkModel } from '@slowwave/engine-testing';
import { describe, expect, it, test } from 'vitest';
import { forecast, forecastOf } from '../forecast.ts';
import { DEFAULT_TENANT } from '../words.ts';

/** Each consolidation costs 3,000 tokens, each token two more; an owner may be a little dearer. */
const past = (consolidations: number, saidTokens: number, dearer = 1) => {
  const promptTokens = (3_000 * consolidations + 2 * saidTokens) * dearer;
  return {
    consolidations,
    saidTokens,
    messages: saidTokens / 20,
    promptTokens,
    completionTokens: promptTokens / 10,
    cost: promptTokens / 1e6,
    unpriced: 0,
  };
};
const PAST = [past(4, 2_000), past(2, 6_000), past(6, 9_000), past(1, 500)];

describe('a forecast', () => {
  it('finds what each consolidation and each token cost, and is sure where owners are alike', () => {
    const { promptTokens, completionTokens, tokens, cost, consolidations, basis } = forecast(
      { tokens: 13_460, owners: 2 },
      PAST,
      6_000,
    );
    expect(basis).toEqual({ owners: 4, consolidations: 13 });
    expect(consolidations).toBe(10);
    expect(promptTokens.about).toBeCloseTo(3_000 * 10 + 2 * 13_460, 0);
    expect(promptTokens.plusMinus).toBeLessThan(1);
    expect(tokens.about).toBeCloseTo(promptTokens.about + completionTokens.about, 3);
    expect(cost?.about).toBeCloseTo(promptTokens.about / 1e6, 6);
  });

  it('is less sure where owners differ, and of more', () => {
    const differing = [past(4, 2_000, 1.3), past(2, 6_000, 0.8), past(6, 9_000), past(1, 500, 0.7)];
    const of = (tokens: number) => forecast({ tokens, owners: 1 }, differing, 6_000).tokens;
    expect(of(10_000).plusMinus).toBeGreaterThan(1_000);
    expect(of(100_000).plusMinus).toBeGreaterThan(of(10_000).plusMinus);
  });

  it('goes by tokens alone where all consolidations were alike', () => {
    const alike = [past(2, 2_000), past(4, 4_000), past(8, 8_000)];
    expect(forecast({ tokens: 5_000, owners: 1 }, alike, 6_000).promptTokens.about).toBeCloseTo(25_000, 0);
  });

  it('is a guess, and says so, without a past', () => {
    const guessed = forecast({ tokens: 60_000, owners: 1 }, [past(4, 2_000)], 6_000);
    expect(guessed).toMatchObject({ basis: { owners: 0 }, consolidations: 10, cost: null });
    expect(guessed.tokens.plusMinus).toBeGreaterThan(guessed.tokens.about / 2);
  });

  it('of calls without a price knows no cost; of nothing it is nothing', () => {
    const unpriced = PAST.map((use) => ({ ...use, unpriced: 1 }));
    expect(forecast({ tokens: 1_000, owners: 1 }, unpriced, 6_000).cost).toBeNull();
    expect(forecast({ tokens: 0, owners: 0 }, PAST, 6_000).tokens).toMatchObject({ about: 0 });
  });
});

const USERS = 40;
const IN_TEN_PERCENT = 0.1;

test.each([1, 2, 3])('what an import uses is within ten percent of its forecast (seed %i)', async (seed) => {
  const bench = await engineBench({ chat: talkModel() });
  const talk = talkInRounds({ users: USERS, rounds: 3, seed }).flat();
  const isFirst = (userId: string): boolean => Number(userId.split('-')[1]) < USERS / 2;
  const use = async () => {
    const days = await bench.deps.ledger.usage.past(DEFAULT_TENANT, { since: 0, backfill: true, limit: 1_000 });
    return days.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);
  };
  const imported = async (batches: typeof talk) => {
    for (const { userId, at, messages } of batches) await bench.post(messages, { userId, at, priority: 'backfill' });
    await bench.run();
  };
  await imported(talk.filter(({ userId }) => isFirst(userId)));
  const before = await use();

  const heldOut = talk.filter(({ userId }) => !isFirst(userId));
  const messages = heldOut.flatMap((batch) => batch.messages).length;
  const work = { tokens: null, messages, owners: USERS / 2, live: false };
  const told = await forecastOf(bench.deps, DEFAULT_TENANT, work);
  await imported(heldOut);

  const used = (await use()) - before;
  expect(told.basis.owners).toBe(USERS / 2);
  expect(used).toBeGreaterThan(10_000);
  expect(Math.abs(told.tokens.about - used)).toBeLessThan(IN_TEN_PERCENT * used);
  expect(Math.abs(told.tokens.about - used)).toBeLessThan(2 * told.tokens.plusMinus);
});
