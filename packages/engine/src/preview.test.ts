import { describe, expect, it } from 'vitest';
import { preview } from './preview.ts';
import { echoExtract, engineBench, fakeChat, keyedDecide, NEVER, newBatch, newMessage } from './testing/index.ts';
import { DEFAULT_TENANT } from './words.ts';

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
    const plan = await preview(bench.deps, batch, NEVER);
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
    const plan = await preview(bench.deps, batch, NEVER);
    expect(plan.operations).toMatchObject([{ event: 'ADD', before: null, after: 'pet: a cat' }]);
    expect(await bench.memories()).toEqual([]);
  });
});
