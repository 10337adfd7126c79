import { describe, expect, it } from 'vitest';
import { fixedTools } from './fixed-tools.ts';
import { type Snapshot, walkGraph } from './graph-walk.ts';
import type { Bench } from './ledger-bench.ts';
import { createMemoryLedger } from './memory-ledger.ts';

/** Random lives of a graph, in step with a ledger that folds everything anew with every change. */
export function describeGraphWalks(bench: () => Bench): void {
  describe('whatever is said of a graph and taken back', () => {
    it.each([1, 2])('what was touched follows as if all had been folded anew (walk %i)', async (seed) => {
      const b = bench();
      const same = (before: Snapshot, after: Snapshot): void => expect(after).toEqual(before);
      const found = await walkGraph(b, seed, same);
      const ledger = createMemoryLedger({ tools: fixedTools() });
      const reference = { ledger, tools: fixedTools(), reopened: async () => ledger };
      const wanted = await walkGraph(reference, seed, same);
      for (const [i, snapshot] of wanted.entries()) expect(found[i], `step ${i}`).toEqual(snapshot);
      expect((await b.ledger.audit.contradictions('relation that does not follow')).examples).toEqual([]);
      expect((await b.ledger.audit.contradictions('statement that counts wrongly')).examples).toEqual([]);
    });
  });
}
