import { echoExtract, engineBench, expectTrue, fakeChat, keyedDecide } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT, type Memory } from '../words.ts';
import { saidIds } from './said-ids.ts';
import { memoryWriter } from './write.ts';

const SECOND = 1_000;
const keyOf = (text: string): string => text.split(':')[0] ?? text;
const decided = () =>
  engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }) });

const idsOf = (memory: Memory | undefined): string[] =>
  (memory === undefined ? [] : saidIds(memory)).map(({ kind, id }) => `${kind} ${id}`).sort();

describe('what is said again in another conversation', () => {
  it('stands under the ids of both, and was said last when it was confirmed', async () => {
    const bench = await decided();
    await bench.post(['pet: a cat'], { scope: { appId: 'shop', runId: 'r1' } });
    await bench.run();
    bench.tools.advance(SECOND);
    await bench.post(['pet: a cat'], { scope: { appId: 'health', agentId: 'bot' } });
    await bench.run();
    const [memory, ...others] = await bench.memories();
    expect(others).toEqual([]);
    expect(idsOf(memory)).toEqual(['agent bot', 'app health', 'app shop', 'run r1']);
    const times = new Map((memory === undefined ? [] : saidIds(memory)).map(({ id, last }) => [id, last]));
    expect((times.get('health') ?? 0) - (times.get('shop') ?? 0)).toBe(SECOND);
    await expectTrue(bench.deps.ledger);
  });

  it('stands under the ids of the other alone once its consolidation is undone', async () => {
    const bench = await decided();
    await bench.post(['pet: a cat'], { scope: { appId: 'shop' } });
    await bench.run();
    await bench.post(['pet: a dog'], { scope: { appId: 'health' } });
    await bench.run();
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    expect(idsOf((await bench.memories())[0])).toEqual(['app health', 'app shop']);
    await undoer(bench.deps).undo(DEFAULT_TENANT, results[0]?.id ?? '', { cascade: false, dryRun: false });
    expect(idsOf((await bench.memories())[0])).toEqual(['app shop']);
    await expectTrue(bench.deps.ledger);
  });

  it('is under the ids it was made with where all of it was undone and somebody restores it', async () => {
    const bench = await decided();
    await bench.post(['pet: a cat'], { scope: { appId: 'shop', runId: 'r1' } });
    await bench.run();
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    await undoer(bench.deps).undo(DEFAULT_TENANT, results[0]?.id ?? '', { cascade: false, dryRun: false });
    const [undone] = await bench.memories();
    expect(idsOf(undone)).toEqual([]);
    await memoryWriter(bench.deps).restore(DEFAULT_TENANT, undone?.id ?? '', 1);
    expect(idsOf((await bench.memories())[0])).toEqual(['app shop', 'run r1']);
    expect(await bench.live()).toEqual(['pet: a cat']);
    await expectTrue(bench.deps.ledger);
  });
});
