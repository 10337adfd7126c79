import type { GraphStore } from '@slowwave/engine';
import { aroundAtOnce } from '../../ledger/graph/around.ts';
import { writeGraph } from '../../ledger/graph/changes.ts';
import { listEntities, listRelations } from '../../ledger/graph/lists.ts';
import * as reads from '../../ledger/graph/reads.ts';
import type { Script } from '../../ledger/graph/script.ts';
import * as studies from '../../ledger/graph/studies.ts';
import { everyOfGraph, refillGraph, tellGraph, untoldGraph } from '../../ledger/graph/tellings.ts';
import type { Access } from './access.ts';
import { runScript } from './script.ts';
import { changeLane, requestStudy, storeStudyAnswer } from './write/graph.ts';

/** One transaction of a refill takes so many rows: a few milliseconds. */
const REFILL_SLICE = 1_000;

export function graphStore({ read, snapshot, write }: Access): GraphStore {
  /** Scripts of one statement need no snapshot. */
  const ask = <T>(script: () => Script<T>): Promise<T> => read((sql) => runScript(sql, script()));
  const askAtOnce = <T>(script: () => Script<T>): Promise<T> => snapshot((sql) => runScript(sql, script()));
  return {
    claim: (lane, how) => write((sql) => changeLane(sql, lane, studies.claimStudy({ lane, ...how }))),
    storeAnswer: (study, answer) => write((sql) => storeStudyAnswer(sql, { study, answer })),
    apply: (study, plan, now) => write((sql) => changeLane(sql, study.lane, studies.applyStudy({ study, plan, now }))),
    fail: (study, how) => write((sql) => changeLane(sql, study.lane, studies.failStudy({ study, ...how }))),
    release: (study, notBefore) =>
      write((sql) => changeLane(sql, study.lane, studies.releaseStudy({ study, notBefore }))),
    due: (now, limit) => ask(() => studies.dueStudies({ now, limit })),
    study: (tenant, consolidationId) => ask(() => studies.viewStudy(tenant, consolidationId)),
    request: (tenant, consolidationId, now) => write((sql) => requestStudy(sql, { tenant, consolidationId, now })),
    counts: () => ask(() => studies.countStudies()),
    write: (tenant, lane, change) => write((sql) => changeLane(sql, lane, writeGraph({ tenant, lane, change }))),
    writtenAfter: (lane, after) => ask(() => reads.writtenAfter(lane, after)),
    entities: (tenant, ids) => ask(() => reads.entitiesById(tenant, ids)),
    named: (lane, names) => ask(() => reads.entitiesNamed(lane, names)),
    self: (lane) => ask(() => reads.selfOf(lane)),
    listEntities: (...[tenant, owner, filter, page]) => ask(() => listEntities({ tenant, owner, filter, page })),
    relation: (tenant, id) => ask(() => reads.relationById(tenant, id)),
    around: (lane, around) => askAtOnce(() => aroundAtOnce(lane, around)),
    listRelations: (...[tenant, owner, filter, page]) => ask(() => listRelations({ tenant, owner, filter, page })),
    statements: (lane, { entities }) => askAtOnce(() => reads.statementsAbout(lane, entities)),
    proposals: (tenant, owner) => askAtOnce(() => reads.proposalsOf(tenant, owner)),
    untold: (limit) => askAtOnce(() => untoldGraph({ lane: null, limit })),
    untoldOf: (lane, limit) => askAtOnce(() => untoldGraph({ lane, limit })),
    told: (of) => write((sql) => runScript(sql, tellGraph({ of }))),
    refill: async () => {
      let filled = 0;
      for (const kind of ['entity', 'relation'] as const) {
        for (let after: string | null = ''; after !== null; ) {
          const from: string = after;
          const slice = await write((sql) => runScript(sql, refillGraph({ kind, after: from, limit: REFILL_SLICE })));
          after = slice.last;
          filled += slice.filled;
        }
      }
      return filled;
    },
    every: (kind, after, limit) => askAtOnce(() => everyOfGraph(kind, after, limit)),
  };
}
