import { describe } from 'vitest';
import { fixedTools } from './fixed-tools.ts';
import { useBench } from './ledger-bench.ts';
import { describeGraph } from './ledger-suite-graph.ts';
import { createMemoryLedger } from './memory-ledger.ts';

describe('the in-memory graph', () => {
  describeGraph(useBench(async () => ({ ledger: createMemoryLedger({ tools: fixedTools() }), close: async () => {} })));
});
