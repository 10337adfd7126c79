import {
  CutOff,
  echoExtract,
  engineBench,
  fakeChat,
  keyedDecide,
  type PostOptions,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DECIDE } from '../models/prompts/consolidation.ts';
import type { Candidate, Fact } from '../plan.ts';
import { atOnce } from '../ports/tools.ts';
import { DEFAULT_SETTINGS, type TenantSettings } from '../settings.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';
import { decideGroups, halvesOf } from './decide.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;

describe('what a tenant says about deciding', () => {
  it('reaches the model, before what the batch says', async () => {
    const { call } = await decided({ decideInstructions: 'Keep both.' }, { settings: { instructions: 'Be brief.' } });
    expect(call?.user).toContain('"instructions":"Keep both.\\nBe brief."');
    expect(call?.system).toBe(DECIDE.system);
  });

  it('is left out where nobody says anything', async () => {
    const { call } = await decided({}, {});
    expect(call?.user).not.toContain('instructions');
  });

  it('may be the whole prompt: the plan tells which text was used', async () => {
    const prompts = { extract: null, decide: 'Decide as I say.' };
    const { call, plan, hash } = await decided({ prompts }, {});
    expect(call?.system).toBe('decide_operations\n\nDecide as I say.');
    const used = { name: 'decide_operations', version: 'custom', hash: hash(call?.system ?? '') };
    expect(plan?.prompts).toContainEqual(used);
  });
});

/** Two batches about one thing, so that the second is decided on. */
async function decided(chosen: Partial<TenantSettings>, options: PostOptions) {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
  const bench = await engineBench({ chat });
  const { ledger, tools } = bench.deps;
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, ...chosen });
  for (const text of ['lives: in Oslo', 'lives: in Bergen']) {
    await bench.post([text], options);
    await bench.run();
  }
  const { results } = await ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
  const plan = await ledger.thoughts.plan(results[0]?.id ?? '');
  return { plan, hash: tools.hash, call: chat.calls.find((asked) => asked.name === 'decide_operations') };
}

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

const grouped = (...given: Parameters<typeof decideGroups>) => atOnce(decideGroups(...given));

const fact = (n: number, text: string): Fact => ({ id: `f${n}`, text, saidAt: { at: 0, seq: n } }) as Fact;
const candidate = (shortId: string, ...facts: readonly string[]): Candidate =>
  ({
    shortId,
    text: 'one two three',
    recalledBy: facts.map((of) => ({ fact: of, vector: 1, keyword: null })),
  }) as unknown as Candidate;
const AROUND = 30;
const limits = (tokens: number) => ({ tokens, count: (text: string) => text.split(' ').length, overlap: 0.3 });
const FACTS = [fact(0, 'lives in Oslo'), fact(1, 'has a cat'), fact(2, 'lives in Bergen now'), fact(3, 'plays chess')];

it('what fits is one group with everything in it, also what only repeats recalled', () => {
  const candidates = [candidate('0', 'f0'), candidate('1', 'f9')];
  expect(grouped(FACTS, candidates, limits(1_000))).toEqual([{ facts: FACTS, candidates, earlier: [] }]);
});

it('what does not fit is cut between facts; each group is shown its own memories and the earlier facts it may mean', () => {
  const candidates = [candidate('0', 'f0', 'f2'), candidate('1', 'f1'), candidate('2', 'f3')];
  const groups = grouped(FACTS, candidates, limits(4 * (AROUND + 4)));
  expect(groups.map(({ facts }) => facts.map(({ id }) => id))).toEqual([
    ['f0', 'f1'],
    ['f2', 'f3'],
  ]);
  expect(groups.map((group) => group.candidates.map(({ shortId }) => shortId))).toEqual([
    ['0', '1'],
    ['0', '2'],
  ]);
  expect(groups.map(({ earlier }) => earlier.map(({ id }) => id))).toEqual([[], ['f0']]);
});

it('a memory that several facts of a group share counts once', () => {
  const candidates = [candidate('0', 'f0', 'f1', 'f2', 'f3')];
  expect(grouped(FACTS, candidates, limits(5 * (AROUND + 4)))).toHaveLength(1);
});

it('a fact that is too much on its own still has its turn', () => {
  expect(grouped(FACTS, [], limits(1)).map(({ facts }) => facts.length)).toEqual([1, 1, 1, 1]);
});

it('a group is halved between facts; each half has its own memories, and the second the earlier facts it may mean', () => {
  const candidates = [candidate('0', 'f0', 'f2'), candidate('1', 'f1')];
  const before = fact(9, 'lives in Rome');
  const halves = atOnce(halvesOf({ facts: FACTS, candidates, earlier: [before] }, { overlap: 0.3 })) ?? [];
  expect(
    halves.map(({ facts, candidates: shown, earlier }) => [
      facts.map(({ id }) => id),
      shown.map(({ shortId }) => shortId),
      earlier.map(({ id }) => id),
    ]),
  ).toEqual([
    [['f0', 'f1'], ['0', '1'], ['f9']],
    [['f2', 'f3'], ['0'], ['f9', 'f0']],
  ]);
});

it('one fact is not halved', () => {
  const group = { facts: FACTS.slice(0, 1), candidates: [], earlier: [] };
  expect(atOnce(halvesOf(group, { overlap: 0.3 }))).toBeNull();
});
