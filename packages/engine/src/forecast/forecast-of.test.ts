import { engineBench, talkInRounds, talkModel } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { DEFAULT_TENANT } from '../words.ts';
import { forecastOf } from './forecast-of.ts';

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
