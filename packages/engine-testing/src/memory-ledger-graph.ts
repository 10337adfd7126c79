import type { GraphStore } from '@slowwave/engine';
import { graphItems } from './memory-ledger-graph-items.ts';
import { graphReads } from './memory-ledger-graph-reads.ts';
import { graphStudies } from './memory-ledger-graph-studies.ts';
import { writeGraph } from './memory-ledger-graph-writes.ts';
import type { State } from './memory-ledger-state.ts';

export function memoryGraph(state: State): GraphStore {
  return {
    ...graphStudies(state),
    ...graphReads(state),
    ...graphItems(state),
    write: async (tenant, lane, change) => {
      const row = state.lanes.get(lane);
      if (row === undefined || row.erasure !== null || row.tenant !== tenant) return { kind: 'conflict' };
      writeGraph(state, lane, change);
      return { kind: 'written' };
    },
    writtenAfter: async (lane, after) => {
      const written = [...state.graph.statements.values()].filter((row) => row.lane === lane && row.counts);
      return written.filter(({ statement, recordedAt }) => statement.consolidationId === null && recordedAt > after)
        .length;
    },
  };
}
