import {
  type EngineBench,
  echoExtract,
  engineBench,
  fakeChat,
  keyedDecide,
  NEVER,
  newBatch,
  newMessage,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../errors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { preview } from './preview.ts';

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
