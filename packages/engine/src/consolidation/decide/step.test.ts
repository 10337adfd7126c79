import { CutOff, echoExtract, engineBench, fakeChat, keyedDecide, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT, type JsonObject } from '../../words.ts';

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

/** A model whose answer breaks off where it is asked about more facts than this, also when it is asked once more. */
const shortOfBreath =
  (most: number): Script =>
  (input, nth) => {
    const asked = (input.input as JsonObject | undefined) ?? input;
    const whole = JSON.stringify(keyedDecide(keyOf)(asked, nth));
    return (asked.facts as unknown[]).length > most ? new CutOff(whole.slice(0, whole.length / 2)) : whole;
  };

async function decidedBy(most: number) {
  const chat = fakeChat({
    ...{ extract_facts: echoExtract, decide_operations: shortOfBreath(most), repair_output: shortOfBreath(most) },
  });
  const bench = await engineBench({ chat });
  await bench.post(['home: known before']);
  await bench.run();
  const id = await bench.post([1, 2].flatMap((n) => KEYS.map((key) => `${key}: number ${n} of ${key}`)));
  await bench.run();
  const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
  const versions = (await bench.memories()).map((memory) => memory.versions.map(({ text }) => text));
  const answers = await bench.deps.ledger.thoughts.answers(batch?.consolidationId ?? '');
  const steps = answers.map(({ step }) => step).filter((step) => !step.includes(':un'));
  return { batch, steps, versions: versions.toSorted() };
}

describe('a decision whose answer stays cut off', () => {
  it('is asked for in halves before its batch is parked, and what comes in the second may replace what the first made', async () => {
    const whole = await decidedBy(100);
    const halved = await decidedBy(3);
    expect(halved.batch).toMatchObject({ state: 'consolidated', attempts: 2 });
    expect(halved.steps).toEqual(['extract', 'decide/1/1', 'decide/1/2', 'decide/2/1', 'decide/2/2']);
    expect(whole.steps).toEqual(['extract', 'decide']);
    expect(halved.versions).toEqual(whole.versions);
  });

  it('is asked for down to one fact, and parks its batch where even that one breaks off', async () => {
    expect((await decidedBy(1)).batch).toMatchObject({ state: 'consolidated' });
    const { batch, versions } = await decidedBy(0);
    expect(batch).toMatchObject({ state: 'parked', failure: { code: 'model_output_unusable' } });
    expect(versions).toEqual([['home: known before']]);
  });
});
