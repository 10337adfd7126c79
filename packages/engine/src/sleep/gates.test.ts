import { expectTrue, searched, sleptWorld } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';

const SIZE = { seed: 11, facts: 120, updates: 42 };

test('G1, G4: with nights in between, whose model says that everything is the same, what holds and what is found stays as it is', async () => {
  const { bench, chat, of } = await sleptWorld(SIZE, { nights: 3 });
  expect(chat.calls.filter(({ name }) => name === 'judge_neighbours').length).toBeGreaterThan(0);
  expect(await bench.live()).toEqual([...of.gold].sort());
  const gold = new Set(of.gold);
  const answers = await Promise.all(of.questions.map(({ text }) => searched(bench, text)));
  expect(answers.flat().filter((text) => !gold.has(text))).toEqual([]);
  const right = of.questions.filter((question, i) => answers[i]?.[0] === question.gold);
  expect(right.length).toBeGreaterThanOrEqual(Math.floor(0.99 * of.questions.length));
  await expectTrue(bench.deps.ledger);
});
