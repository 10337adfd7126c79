import type { GraphStore } from '@slowwave/engine';
import { aroundEach } from '../../ledger/graph/around.ts';
import { GRAPH_KINDS, graphReads } from '../../ledger/graph/graph-reads.ts';
import { inSlices } from '../../ledger/in-slices.ts';
import type { Script } from '../../ledger/script.ts';
import type { Access } from './access.ts';
import { runScript } from './script.ts';

/** One transaction of a refill takes so many rows: a few milliseconds. */
const REFILL_SLICE = 1_000;

export function graphStore({ read, write }: Access): GraphStore {
  const ask = <T>(script: () => Script<T>): Promise<T> => read((sql) => runScript(sql, script()));
  return {
    ...graphReads({ ask, askAtOnce: ask, around: aroundEach }),
    claim: (lane, how) => write('claimStudy', { lane, ...how }),
    storeAnswer: (study, answer) => write('storeStudyAnswer', { study, answer }),
    apply: (study, plan, now) => write('applyStudy', { study, plan, now }),
    fail: (study, how) => write('failStudy', { study, ...how }),
    release: (study, notBefore) => write('releaseStudy', { study, notBefore }),
    request: (tenant, consolidationId, now) => write('requestStudy', { tenant, consolidationId, now }),
    write: (tenant, lane, change) => write('writeGraph', { tenant, lane, change }),
    told: (of) => write('tellGraph', { of }),
    refill: async () => {
      let filled = 0;
      for (const kind of GRAPH_KINDS)
        filled += await inSlices((after) => write('refillGraph', { kind, after, limit: REFILL_SLICE }));
      return filled;
    },
  };
}
