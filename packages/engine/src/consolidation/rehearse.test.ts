import {
  type BenchOptions,
  type EngineBench,
  echoExtract,
  engineBench,
  type FakeChat,
  fakeChat,
  keyedDecide,
  NEVER,
  newBatch,
  newMessage,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { preview, questionsOf } from './rehearse.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;

describe('a preview', () => {
  it('tells what a consolidation will do, and writes nothing', async () => {
    const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
    const bench = await engineBench({ chat });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const { ledger } = bench.deps;
    const before = JSON.stringify([await bench.memories(), await ledger.overview.batches(DEFAULT_TENANT)]);

    const batch = newBatch(bench.tools, { messages: [newMessage(bench.tools, { content: 'lives: in Bergen' })] });
    const plan = await preview(bench.deps, { batch, tried: {} }, NEVER);
    expect(plan.operations).toMatchObject([{ event: 'UPDATE', before: 'lives: in Oslo', after: 'lives: in Bergen' }]);
    expect(plan.outcomes).toMatchObject([{ fact: 'f0', outcome: 'UPDATE' }]);
    expect(plan.usage.calls).toBe(2);
    expect(JSON.stringify([await bench.memories(), await ledger.overview.batches(DEFAULT_TENANT)])).toBe(before);

    await bench.post(['lives: in Bergen']);
    await bench.run();
    const [consolidation] = (await ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null })).results;
    const applied = await ledger.thoughts.plan(consolidation?.id ?? '');
    const told = ({ operations }: typeof plan) =>
      operations.map(({ event, memoryId, after }) => ({ event, memoryId, after }));
    expect(applied === null ? null : told(applied)).toEqual(told(plan));
  });

  it('of somebody unknown adds what it finds', async () => {
    const bench = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
    const batch = newBatch(bench.tools, { messages: [newMessage(bench.tools, { content: 'pet: a cat' })] });
    const plan = await preview(bench.deps, { batch, tried: {} }, NEVER);
    expect(plan.operations).toMatchObject([{ event: 'ADD', before: null, after: 'pet: a cat' }]);
    expect(await bench.memories()).toEqual([]);
    const { lanes, overview } = bench.deps.ledger;
    expect(await lanes.find(DEFAULT_TENANT, { kind: 'user', id: 'ann' })).toBeNull();
    expect((await overview.owners(DEFAULT_TENANT, { limit: 1, cursor: null })).results).toEqual([]);
    expect((await overview.usage(DEFAULT_TENANT)).calls).toBe(1);
  });

  it('is counted like a consolidation, answered or not', async () => {
    const scripts = { extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) };
    const bench = await engineBench({ chat: fakeChat(scripts) });
    await bench.post(['lives: in Oslo']);
    await bench.run();
    const { overview } = bench.deps.ledger;
    const before = await overview.usage(DEFAULT_TENANT);
    await preview(bench.deps, { batch: of(bench, 'lives: in Bergen'), tried: {} }, NEVER);
    const after = await overview.usage(DEFAULT_TENANT);
    expect(after.calls - before.calls).toBe(2);
    expect(after.promptTokens).toBeGreaterThan(before.promptTokens);
    const slow = new EngineError('too slow', { code: 'model_timeout', retryable: true });
    const failing = { ...fakeChat(scripts), ask: () => Promise.reject(slow) };
    await expect(
      preview({ ...bench.deps, chat: failing }, { batch: of(bench, 'pet: a cat'), tried: {} }, NEVER),
    ).rejects.toThrow('too slow');
    expect(await overview.usage(DEFAULT_TENANT)).toMatchObject({ calls: after.calls + 1, failedCalls: 1 });
  });

  it('asks no model once the budget of the day is used up, neither of the tenant nor of the user', async () => {
    const chat = fakeChat({ extract_facts: echoExtract });
    const bench = await engineBench({ chat });
    const { ledger } = bench.deps;
    await preview(bench.deps, { batch: of(bench, 'pet: a cat'), tried: {} }, NEVER);
    const asked = chat.calls.length;
    for (const limit of [{ tokensPerDay: 1 }, { userTokensPerDay: 1 }]) {
      const budgets = { ...DEFAULT_SETTINGS.budgets, ...limit };
      await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, budgets });
      await expect(preview(bench.deps, { batch: of(bench, 'pet: a dog'), tried: {} }, NEVER)).rejects.toMatchObject({
        code: 'budget_exhausted',
      });
    }
    expect(chat.calls).toHaveLength(asked);
  });
});

const of = ({ tools }: EngineBench, content: string) => newBatch(tools, { messages: [newMessage(tools, { content })] });

const decide = keyedDecide((text) => text.split(':')[0] ?? text);

interface World {
  readonly bench: EngineBench;
  readonly chat: FakeChat;
}

const worldWith = async (extract: Script, options: Partial<BenchOptions> = {}): Promise<World> => {
  const chat = fakeChat({ extract_facts: extract, decide_operations: decide, repair_output: extract });
  return { chat, bench: await engineBench({ chat, ...options }) };
};

/** What is shown of all consolidations, oldest first: each answer's step, with the question. */
async function shown({ bench: { deps } }: World) {
  const { thoughts } = deps.ledger;
  const { results } = await thoughts.list(DEFAULT_TENANT, {}, { limit: 50, cursor: null });
  const all: { step: string; system: string | null; user: string | null }[] = [];
  for (const consolidation of results.toReversed()) {
    const answers = await thoughts.answers(consolidation.id);
    const plan = await thoughts.plan(consolidation.id);
    const questions = await questionsOf(deps, { consolidation, plan, answers }, NEVER);
    for (const answer of answers) {
      const { system = null, user = null } = questions.get(answer) ?? {};
      all.push({ step: answer.step, system, user });
    }
  }
  return all;
}

const sentIn = ({ chat }: World) => chat.calls.map(({ system, user }) => ({ system, user }));
const withoutSteps = (all: Awaited<ReturnType<typeof shown>>) => all.map(({ system, user }) => ({ system, user }));

describe('the questions of consolidations', () => {
  it('are shown as they were sent, also where a rule had decided a part', async () => {
    const world = await worldWith(echoExtract);
    await world.bench.post(['lives: in Oslo', 'pet: a cat']);
    await world.bench.run();
    await world.bench.post(['pet: a cat', 'lives: in Bergen', 'works: at sea'], {
      settings: { instructions: 'Whatever is said of places.' },
    });
    await world.bench.run();
    const all = await shown(world);
    expect(all.map(({ step }) => step)).toEqual(['extract', 'extract', 'decide']);
    expect(withoutSteps(all)).toEqual(sentIn(world));
    expect(all[2]?.user).toContain('lives: in Oslo');
  });

  it('are shown with those that asked for an answer again, in each try', async () => {
    const broken: Script = (input, nth) => (nth < 2 ? 'I cannot say' : echoExtract(input, nth));
    const world = await worldWith((input, nth) =>
      nth === 1 ? 'No idea' : nth === 2 ? 'none' : echoExtract(input, nth),
    );
    await world.bench.post(['lives: in Oslo']);
    await world.bench.run();
    const all = await shown(world);
    expect(all.length).toBeGreaterThan(2);
    expect(withoutSteps(all)).toEqual(sentIn(world));
    const repaired = await worldWith(broken);
    await repaired.bench.post(['lives: in Oslo']);
    await repaired.bench.run();
    expect(withoutSteps(await shown(repaired))).toEqual(sentIn(repaired));
  });

  it('are shown for each part of a long window, and for halves of what there was no room for', async () => {
    const world = await worldWith(echoExtract, { settings: { partTokens: 40 } });
    await world.bench.post(Array.from({ length: 12 }, (_, n) => `thing ${n}: stands in the cupboard of the kitchen`));
    await world.bench.run();
    const all = await shown(world);
    expect(all.filter(({ step }) => step.startsWith('extract')).length).toBeGreaterThan(1);
    expect(withoutSteps(all)).toEqual(sentIn(world));
    const small: Script = (input, nth) =>
      ['first', 'second'].every((word) => JSON.stringify(input).includes(word))
        ? new EngineError('expected less, got more than fits', { code: 'context_too_long', retryable: false })
        : echoExtract(input, nth);
    const halved = await worldWith(small);
    await halved.bench.post(['first: one', 'second: two'].map((text) => `${text} ${'and so on '.repeat(200)}`));
    await halved.bench.run();
    const halves = await shown(halved);
    expect(halves.map(({ step }) => step)).toContain('extract/2');
    // The one that there was no room for has no answer.
    expect(withoutSteps(halves)).toEqual(sentIn(halved).slice(1));
  });

  it('are not shown where they would be others today', async () => {
    const world = await worldWith(echoExtract);
    await world.bench.post(['lives: in Oslo']);
    await world.bench.run();
    const { settings } = world.bench.deps.ledger;
    await settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, instructions: 'Nothing of places.' });
    expect(await shown(world)).toEqual([{ step: 'extract', system: null, user: null }]);
    await settings.put(DEFAULT_TENANT, DEFAULT_SETTINGS);
    expect(withoutSteps(await shown(world))).toEqual(sentIn(world));
  });

  it('change nothing, and ask nobody', async () => {
    const world = await worldWith(echoExtract);
    await world.bench.post(['lives: in Oslo']);
    await world.bench.run();
    const { ledger } = world.bench.deps;
    const state = async () =>
      JSON.stringify([await world.bench.memories(), await ledger.overview.usage(DEFAULT_TENANT)]);
    const before = await state();
    await shown(world);
    expect(await state()).toBe(before);
    expect(world.chat.calls).toHaveLength(1);
  });
});
