import {
  type BenchOptions,
  type EngineBench,
  echoExtract,
  engineBench,
  type FakeChat,
  fakeChat,
  keyedDecide,
  NEVER,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { questionsOf } from './questions.ts';

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
