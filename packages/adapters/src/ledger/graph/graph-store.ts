import type { GraphStore, KeptRelation } from '@slowwave/engine';
import type { Access, Read } from '../access.ts';
import { inSlices } from '../in-slices.ts';
import type { AroundLane } from './around.ts';
import { writeGraph } from './changes.ts';
import * as items from './items.ts';
import { listEntities, listRelations } from './lists.ts';
import * as reads from './reads.ts';
import * as studies from './studies.ts';

/** `around`: what each ledger looks around with. */
export const graphStore = ({ read, write }: Access, around: Read<AroundLane, readonly KeptRelation[]>): GraphStore => ({
  claim: (lane, how) => write(studies.claimStudy, { lane, ...how }),
  holds: (study) => read(studies.isHeld, study),
  storeAnswer: (study, answer) => write(studies.storeStudyAnswer, { study, answer }),
  apply: (study, plan, now) => write(studies.applyStudy, { study, plan, now }),
  fail: (study, how) => write(studies.failStudy, { study, ...how }),
  release: (study, notBefore) => write(studies.releaseStudy, { study, notBefore }),
  due: (now, limit) => read(studies.dueStudies, { now, limit }),
  study: (tenant, consolidationId) => read(studies.viewStudy, { tenant, consolidationId }),
  request: (tenant, consolidationId, now) => write(studies.requestStudy, { tenant, consolidationId, now }),
  counts: () => read(studies.countStudies, null),
  write: (tenant, lane, change) => write(writeGraph, { tenant, lane, change }),
  writtenAfter: (lane, after) => read(reads.writtenAfter, { lane, after }),
  entities: (tenant, ids) => read(reads.entitiesById, { tenant, ids }),
  named: (lane, names) => read(reads.entitiesNamed, { lane, names }),
  self: (lane) => read(reads.selfOf, { lane }),
  listEntities: (...[tenant, owner, filter, page]) => read(listEntities, { tenant, owner, filter, page }),
  relation: (tenant, id) => read(reads.relationById, { tenant, id }),
  around: (lane, asked) => read(around, { lane, ...asked }),
  listRelations: (...[tenant, owner, filter, page]) => read(listRelations, { tenant, owner, filter, page }),
  statements: (lane, { entities }) => read(reads.statementsAbout, { lane, entities }),
  proposals: (tenant, owner) => read(reads.proposalsOf, { tenant, owner }),
  unprojected: (limit) => read(items.unprojectedGraph, { lane: null, limit }),
  unprojectedOf: (lane, limit) => read(items.unprojectedGraph, { lane, limit }),
  projected: (of) => write(items.noteProjected, of),
  refill: async () => {
    const entities = await inSlices((slice) => write(items.refillGraph, { kind: 'entity', ...slice }));
    return entities + (await inSlices((slice) => write(items.refillGraph, { kind: 'relation', ...slice })));
  },
  every: (kind, after, limit) => read(items.everyOfGraph, { kind, after, limit }),
});
