import type { GraphStore } from '@slowwave/engine';
import { aroundAtOnce } from '../../ledger/graph/around.ts';
import { writeGraph } from '../../ledger/graph/changes.ts';
import { GRAPH_KINDS, graphReads } from '../../ledger/graph/graph-reads.ts';
import * as studies from '../../ledger/graph/studies.ts';
import { refillGraph, tellGraph } from '../../ledger/graph/tellings.ts';
import { inSlices } from '../../ledger/in-slices.ts';
import type { Access } from './access.ts';
import { runScript } from './script.ts';
import { changeLane, requestStudy, storeStudyAnswer } from './write/graph.ts';

/** One transaction of a refill takes so many rows: a few milliseconds. */
const REFILL_SLICE = 1_000;

export function graphStore({ read, snapshot, write }: Access): GraphStore {
  return {
    ...graphReads({
      ask: (script) => read((sql) => runScript(sql, script())),
      askAtOnce: (script) => snapshot((sql) => runScript(sql, script())),
      around: aroundAtOnce,
    }),
    claim: (lane, how) => write((sql) => changeLane(sql, lane, studies.claimStudy({ lane, ...how }))),
    storeAnswer: (study, answer) => write((sql) => storeStudyAnswer(sql, { study, answer })),
    apply: (study, plan, now) => write((sql) => changeLane(sql, study.lane, studies.applyStudy({ study, plan, now }))),
    fail: (study, how) => write((sql) => changeLane(sql, study.lane, studies.failStudy({ study, ...how }))),
    release: (study, notBefore) =>
      write((sql) => changeLane(sql, study.lane, studies.releaseStudy({ study, notBefore }))),
    request: (tenant, consolidationId, now) => write((sql) => requestStudy(sql, { tenant, consolidationId, now })),
    write: (tenant, lane, change) => write((sql) => changeLane(sql, lane, writeGraph({ tenant, lane, change }))),
    told: (of) => write((sql) => runScript(sql, tellGraph({ of }))),
    refill: async () => {
      let filled = 0;
      for (const kind of GRAPH_KINDS)
        filled += await inSlices((after) =>
          write((sql) => runScript(sql, refillGraph({ kind, after, limit: REFILL_SLICE }))),
        );
      return filled;
    },
  };
}
