import {
  engineBench,
  expectTrue,
  fakeChat,
  reordered,
  seeded,
  stateHash,
  type TimedBatch,
  timedBatches,
  timedDecide,
  timedExtract,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);
const SAID = 24;
/** All of it in one consolidation has more wishes to forget than a model in doubt may have. */
const DELETES = 100;

async function hashAfter(batches: readonly TimedBatch[], how: 'one by one' | 'at once'): Promise<string> {
  const chat = fakeChat({ extract_facts: timedExtract, decide_operations: timedDecide });
  const bench = await engineBench({ chat, settings: { deletesPerConsolidation: DELETES } });
  for (const batch of batches) {
    await bench.post(batch);
    if (how === 'one by one') await bench.run();
  }
  await bench.run();
  await expectTrue(bench.deps.ledger);
  return stateHash(await bench.memories());
}

describe('G11: what was said last counts, in whatever order it comes, also after a wish to forget', () => {
  it.each(SEEDS)('shuffled batches lead to the same state, seed %i', async (seed) => {
    const batches = timedBatches(seed, SAID);
    const inOrder = await hashAfter(batches, 'one by one');
    const shuffled = reordered(batches, seeded(seed));
    expect(shuffled).not.toEqual(batches);
    expect(await hashAfter(shuffled, 'one by one')).toBe(inOrder);
    expect(await hashAfter(shuffled, 'at once')).toBe(inOrder);
  });
});
