import {
  type BenchOptions,
  type EngineBench,
  echoExtract,
  engineBench,
  expectTrue,
  fakeChat,
  keyedDecide,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import { DEFAULT_TENANT, type Memory } from '../words.ts';

describe('an explicit write between plan and apply', () => {
  it('has the memory decided on again, and keeps the last word', async () => {
    const { bench, chat, onPlan } = await oneMemory('lives: in Oslo');
    onPlan(1, (memory) => writer(bench).change(DEFAULT_TENANT, memory.id, { text: 'lives: in Rome' }));
    await bench.post(['lives: in Bergen']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Rome']);
    const [memory] = await bench.memories();
    expect(memory?.versions.map(({ text }) => text)).toEqual(['lives: in Oslo', 'lives: in Rome', 'lives: in Bergen']);
    expect(await newestPlan(bench)).toMatchObject({ round: 2, candidates: [{ text: 'lives: in Rome', revision: 2 }] });
    expect(
      chat.calls.map(({ name }) => name),
      'what was found is not looked for again',
    ).toEqual(['extract_facts', 'extract_facts', 'decide_operations', 'decide_operations']);
    await expectTrue(bench.deps.ledger);
  });

  it('of other things than the text leaves the text to what is said', async () => {
    const { bench, onPlan } = await oneMemory('lives: in Oslo');
    onPlan(1, (memory) => writer(bench).change(DEFAULT_TENANT, memory.id, { metadata: { seen: true } }));
    await bench.post(['lives: in Bergen']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Bergen']);
    expect((await bench.memories())[0]?.versions.map(({ details }) => details.metadata)).toEqual([
      { seen: true },
      { seen: true },
    ]);
    await expectTrue(bench.deps.ledger);
  });

  it('that deletes the memory is not undone by what was said before it', async () => {
    const { bench, onPlan } = await oneMemory('lives: in Oslo');
    onPlan(1, (memory) => writer(bench).remove(DEFAULT_TENANT, memory.id));
    await bench.post(['lives: in Oslo', 'pet: a cat']);
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat']);
    await bench.post(['lives: in Oslo']);
    bench.tools.advance(1_000);
    await bench.post(['lives: in Oslo']);
    await bench.run();
    expect(await bench.live(), 'said anew').toEqual(['lives: in Oslo', 'pet: a cat']);
    await expectTrue(bench.deps.ledger);
  });

  it('that deletes the memory takes what was said of it until then, which a restored version brings back', async () => {
    const { bench, onPlan } = await oneMemory('lives: in Oslo');
    onPlan(1, (memory) => writer(bench).remove(DEFAULT_TENANT, memory.id));
    await bench.post(['lives: in Bergen']);
    await bench.run();
    expect(await bench.live()).toEqual([]);
    const [memory] = await bench.memories();
    expect(memory?.versions.map(({ text }) => text)).toEqual(['lives: in Oslo', 'lives: in Bergen']);
    await writer(bench).restore(DEFAULT_TENANT, memory?.id ?? '', memory?.versions.at(-1)?.number ?? 0);
    expect(await bench.live()).toEqual(['lives: in Bergen']);
    await expectTrue(bench.deps.ledger);
  });

  it('of another memory changes nothing for the plan', async () => {
    const { bench, onPlan } = await oneMemory('lives: in Oslo');
    const rest = { category: null, metadata: {}, immutable: false, expiresAt: null, validFrom: null };
    const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
    onPlan(1, () => writer(bench).add(DEFAULT_TENANT, { ...rest, scope, text: 'pet: a cat' }));
    await bench.post(['lives: in Bergen']);
    await bench.run();
    expect(await bench.live()).toEqual(['lives: in Bergen', 'pet: a cat']);
    expect(await newestPlan(bench)).toMatchObject({ round: 1 });
  });

  it('again and again costs no try, however few there are; the next one goes on from the newest plan', async () => {
    const { bench, chat, onPlan } = await oneMemory('lives: in Oslo', { maxAttempts: 1 });
    const writes = 12;
    for (let nth = 1; nth <= writes; nth += 1) {
      onPlan(nth, (memory) => writer(bench).change(DEFAULT_TENANT, memory.id, { metadata: { nth } }));
    }
    const id = await bench.post(['lives: in Bergen']);
    const verdicts = await bench.run();
    expect(verdicts.map(({ kind }) => kind)).toEqual(['later', 'later', 'done']);
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'consolidated',
      attempts: 0,
      failures: [],
    });
    expect(await newestPlan(bench)).toMatchObject({ round: writes + 1 });
    expect(
      chat.calls.filter(({ name }) => name === 'decide_operations'),
      'the same question is asked once',
    ).toHaveLength(1);
    await expectTrue(bench.deps.ledger);
  });
});

describe('an explicit write of other texts, again and again', () => {
  it('parks nothing: the batch says what it waits for, and is applied when the writes pause', async () => {
    const { bench, onPlan } = await oneMemory('lives: in Oslo', { maxAttempts: 2 });
    const states: unknown[] = [];
    const id = await bench.post(['lives: in Bergen']);
    for (let nth = 1; nth <= 12; nth += 1) {
      onPlan(nth, async (memory) => {
        const batch = await bench.deps.ledger.batches.get(DEFAULT_TENANT, id);
        states.push([batch?.state, batch?.attempts, batch?.failure?.code ?? null]);
        await writer(bench).change(DEFAULT_TENANT, memory.id, { text: `lives: in town ${nth}` });
      });
    }
    await bench.run();
    expect(states).toHaveLength(12);
    expect(new Set(states.map(String))).toEqual(new Set(['consolidating,0,', 'consolidating,0,overtaken']));
    expect(await bench.deps.ledger.batches.get(DEFAULT_TENANT, id)).toMatchObject({
      state: 'consolidated',
      attempts: 0,
    });
    expect(await bench.live()).toEqual(['lives: in town 12']);
    await expectTrue(bench.deps.ledger);
  });
});

const writer = (bench: EngineBench) => memoryWriter(bench.deps);

/** A bench with one memory, and a way to do something right before the n-th plan from now on is carried out. */
async function oneMemory(text: string, settings: BenchOptions['settings'] = {}) {
  const decide = keyedDecide((shown) => shown.split(':')[0] ?? shown);
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: decide });
  const bench = await engineBench({ chat, settings });
  await bench.post([text]);
  await bench.run();
  const doings = new Map<number, (memory: Memory) => Promise<unknown>>();
  const { memories } = bench.deps.ledger;
  const { apply } = memories;
  let plans = 0;
  Object.assign(memories, {
    apply: async (...given: Parameters<typeof apply>) => {
      if (given[1].plan !== null) plans += 1;
      const [memory] = await bench.memories();
      if (memory !== undefined) await doings.get(plans)?.(memory);
      return apply(...given);
    },
  });
  return { bench, chat, onPlan: (nth: number, doing: (memory: Memory) => Promise<unknown>) => doings.set(nth, doing) };
}

async function newestPlan({ deps: { ledger } }: EngineBench) {
  const { results } = await ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
  return ledger.thoughts.plan(results[0]?.id ?? '');
}
