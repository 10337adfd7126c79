import { createMemoryIndex, engineBench, fakeChat, fakeEmbedder, NEVER } from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { HASHED } from '../models/vectors.ts';
import type { Embedder } from '../ports/models.ts';
import type { SearchIndex } from '../ports/search-index.ts';
import { changeMove, currentMove, startMove } from './move.ts';
import { type MoveWorkDeps, workOnMove } from './work-on-move.ts';

const DAY_MS = 86_400_000;
const SEEN_MS = 3_000;

describe('the work on an index that moves', () => {
  let bench: Awaited<ReturnType<typeof engineBench>>;
  let deps: MoveWorkDeps;
  beforeEach(async () => {
    bench = await engineBench({ chat: fakeChat({}) });
    const space = (index: SearchIndex, embedder: Embedder) => ({
      index,
      embedder,
      queries: embedder,
      vectors: () => HASHED,
    });
    const from = space(bench.deps.index, bench.deps.embedder);
    const to = space(createMemoryIndex(), { ...fakeEmbedder(32), fingerprint: 'next' });
    deps = {
      ...bench.deps,
      spaces: { from, to },
      paced: (embedder) => embedder,
      worker: 'one',
    };
    await bench.deps.index.stamp({ ledgerId: bench.deps.ledger.id, fingerprint: from.embedder.fingerprint });
  });

  const start = () =>
    startMove(
      { ...deps, to: deps.spaces.to },
      {
        ...{ from: deps.spaces.from.embedder.fingerprint, to: 'next', tokensPerMinute: null, margin: 1, auto: false },
        estimate: { texts: 0, tokens: 0 },
      },
    );

  it('begins seconds after it was asked for, also by a clock that was a day ahead', async () => {
    bench.tools.advance(DAY_MS);
    await start();
    bench.tools.advance(-DAY_MS);
    expect(await workOnMove(deps, NEVER)).toBe(false);
    bench.tools.advance(SEEN_MS);
    expect(await workOnMove(deps, NEVER)).toBe(true);
    expect((await currentMove(deps))?.state).toBe('ready');
  });

  it('waits for whoever has it, but not for a claim of a clock that was a day ahead', async () => {
    await start();
    bench.tools.advance(SEEN_MS);
    const claimed = (ms: number) =>
      changeMove(deps, (move) => move && { ...move, worker: { id: 'other', until: bench.tools.now() + ms } });
    await claimed(60_000);
    expect(await workOnMove(deps, NEVER)).toBe(false);
    await claimed(DAY_MS);
    expect(await workOnMove(deps, NEVER)).toBe(true);
    expect((await currentMove(deps))?.state).toBe('ready');
  });
});
