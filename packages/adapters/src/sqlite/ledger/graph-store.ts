import type { GraphStore } from '@slowwave/engine';
import { aroundEach } from '../../ledger/graph/around.ts';
import { listEntities, listRelations } from '../../ledger/graph/lists.ts';
import * as reads from '../../ledger/graph/reads.ts';
import type { Script } from '../../ledger/graph/script.ts';
import * as studies from '../../ledger/graph/studies.ts';
import { everyOfGraph, untoldGraph } from '../../ledger/graph/tellings.ts';
import type { Access } from './access.ts';
import { runScript } from './script.ts';

/** One transaction of a refill takes so many rows: a few milliseconds. */
const REFILL_SLICE = 1_000;

export function graphStore({ read, write }: Access): GraphStore {
  const ask = <T>(script: () => Script<T>): Promise<T> => read((sql) => runScript(sql, script()));
  return {
    claim: (lane, how) => write('claimStudy', { lane, ...how }),
    storeAnswer: (study, answer) => write('storeStudyAnswer', { study, answer }),
    apply: (study, plan, now) => write('applyStudy', { study, plan, now }),
    fail: (study, how) => write('failStudy', { study, ...how }),
    release: (study, notBefore) => write('releaseStudy', { study, notBefore }),
    due: (now, limit) => ask(() => studies.dueStudies({ now, limit })),
    study: (tenant, consolidationId) => ask(() => studies.viewStudy(tenant, consolidationId)),
    request: (tenant, consolidationId, now) => write('requestStudy', { tenant, consolidationId, now }),
    counts: () => ask(() => studies.countStudies()),
    write: (tenant, lane, change) => write('writeGraph', { tenant, lane, change }),
    writtenAfter: (lane, after) => ask(() => reads.writtenAfter(lane, after)),
    entities: (tenant, ids) => ask(() => reads.entitiesById(tenant, ids)),
    named: (lane, names) => ask(() => reads.entitiesNamed(lane, names)),
    self: (lane) => ask(() => reads.selfOf(lane)),
    listEntities: (...[tenant, owner, filter, page]) => ask(() => listEntities({ tenant, owner, filter, page })),
    relation: (tenant, id) => ask(() => reads.relationById(tenant, id)),
    around: (lane, around) => ask(() => aroundEach(lane, around)),
    listRelations: (...[tenant, owner, filter, page]) => ask(() => listRelations({ tenant, owner, filter, page })),
    statements: (lane, { entities }) => ask(() => reads.statementsAbout(lane, entities)),
    proposals: (tenant, owner) => ask(() => reads.proposalsOf(tenant, owner)),
    untold: (limit) => ask(() => untoldGraph({ lane: null, limit })),
    untoldOf: (lane, limit) => ask(() => untoldGraph({ lane, limit })),
    told: (of) => write('tellGraph', { of }),
    refill: async () => {
      let filled = 0;
      for (const kind of ['entity', 'relation'] as const) {
        for (let after: string | null = ''; after !== null; ) {
          const slice: { last: string | null; filled: number } = await write('refillGraph', {
            ...{ kind, after, limit: REFILL_SLICE },
          });
          after = slice.last;
          filled += slice.filled;
        }
      }
      return filled;
    },
    every: (kind, after, limit) => ask(() => everyOfGraph(kind, after, limit)),
  };
}
