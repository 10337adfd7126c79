import { echoExtract, engineBench, fakeChat, keyedDecide, NEVER } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { memoryPage } from './rebuild-index.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;

describe('pages of the ledger for an index', () => {
  const bench = () =>
    engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) }) });
  const all = { after: null, limit: 10, changedSince: null };

  it('have every version of every memory, with vectors', async () => {
    const { deps, post, run } = await bench();
    await post(['lives: in Oslo']);
    await run();
    await post(['lives: in Bergen']);
    await post(['drinks: tea'], { userId: 'bob' });
    await run();
    const { points, looked, more } = await memoryPage(deps, all, NEVER);
    expect(points.map(({ text, live }) => [text, live]).sort()).toEqual([
      ['drinks: tea', true],
      ['lives: in Bergen', true],
      ['lives: in Oslo', false],
    ]);
    expect(points.every(({ vector }) => vector.length === deps.embedder.dimensions)).toBe(true);
    expect({ looked, more }).toEqual({ looked: 2, more: false });
  });

  it('follow each other to the end', async () => {
    const { deps, post, run } = await bench();
    await post(['a: 1', 'b: 2', 'c: 3']);
    await run();
    const first = await memoryPage(deps, { ...all, limit: 2 }, NEVER);
    const second = await memoryPage(deps, { ...all, limit: 2, after: first.last }, NEVER);
    expect([first.more, second.more]).toEqual([true, false]);
    expect([...first.points, ...second.points].map(({ text }) => text).sort()).toEqual(['a: 1', 'b: 2', 'c: 3']);
  });

  it('may have only what was changed since a moment, and go on behind what was not', async () => {
    const { deps, post, run, tools } = await bench();
    await post(['a: 1', 'b: 2']);
    await run();
    tools.advance(1_000);
    const since = tools.now();
    await post(['b: 3']);
    await run();
    const { points } = await memoryPage(deps, { ...all, changedSince: since }, NEVER);
    expect(points.map(({ text }) => text).sort()).toEqual(['b: 2', 'b: 3']);
    await post(['a: 1']);
    await run();
    const again = await memoryPage(deps, { ...all, changedSince: since }, NEVER);
    expect(again.points.map(({ text, confirmations }) => [text, confirmations])).toContainEqual(['a: 1', 1]);
    expect(await memoryPage(deps, { ...all, limit: 1, changedSince: tools.now() + 1 }, NEVER)).toMatchObject({
      points: [],
      looked: 1,
      last: expect.any(String),
      more: true,
    });
  });
});
