import { expect, it } from 'vitest';
import { echoExtract, engineBench, fakeChat, keyedDecide } from '../testing/index.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const KEYS = ['home', 'pet', 'job', 'food', 'sport', 'music'];

/** The same conversation, decided in calls of this size. */
async function remembered(decideTokens: number) {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
  const bench = await engineBench({ chat, settings: { decideTokens } });
  await bench.post(KEYS.map((key) => `${key}: first of ${key}`));
  await bench.run();
  const batch = await bench.post([2, 3].flatMap((n) => KEYS.map((key) => `${key}: number ${n} of ${key}`)));
  await bench.run();
  const { consolidationId, prompts } = await bench.plan(batch);
  const steps = (await bench.deps.ledger.thoughts.answers(consolidationId)).map(({ step }) => step);
  const versions = (await bench.memories()).map((memory) => memory.versions.map(({ text }) => text));
  return { steps, prompts: prompts.length, versions: versions.toSorted() };
}

it('more than one call can take is decided in several, with the same outcome', async () => {
  const whole = await remembered(96_000);
  const parts = await remembered(250);
  expect(whole.steps).toEqual(['extract', 'decide']);
  expect(parts.steps.length).toBeGreaterThan(3);
  expect(parts.steps.slice(0, 3)).toEqual(['extract', 'decide', 'decide:2']);
  expect(parts.versions).toEqual(whole.versions);
  expect(whole.versions.map((texts) => texts.length)).toEqual(Array(6).fill(3));
  expect(parts.prompts).toBe(2);
});
