import type { Around, GraphStore, KeptRelation, LaneId } from '@slowwave/engine';
import type { Script } from '../script.ts';
import { listEntities, listRelations } from './lists.ts';
import * as reads from './reads.ts';
import { countStudies, dueStudies, holdsStudy, viewStudy } from './studies.ts';
import { everyOfGraph, untoldGraph } from './tellings.ts';

type Ask = <T>(script: () => Script<T>) => Promise<T>;

/** How a ledger is asked. */
interface Asking {
  /** For scripts of one statement, which need no snapshot. */
  readonly ask: Ask;
  /** All statements of a script see the same. */
  readonly askAtOnce: Ask;
  readonly around: (lane: LaneId, around: Around) => Script<readonly KeptRelation[]>;
}

type Reads = Omit<
  GraphStore,
  'claim' | 'storeAnswer' | 'apply' | 'fail' | 'release' | 'request' | 'write' | 'told' | 'refill'
>;

/** What is read of the graph, the same of every ledger. */
export const graphReads = ({ ask, askAtOnce, around }: Asking): Reads => ({
  holds: (study) => ask(() => holdsStudy(study)),
  due: (now, limit) => ask(() => dueStudies({ now, limit })),
  study: (tenant, consolidationId) => ask(() => viewStudy(tenant, consolidationId)),
  counts: () => ask(() => countStudies()),
  writtenAfter: (lane, after) => ask(() => reads.writtenAfter(lane, after)),
  entities: (tenant, ids) => ask(() => reads.entitiesById(tenant, ids)),
  named: (lane, names) => ask(() => reads.entitiesNamed(lane, names)),
  self: (lane) => ask(() => reads.selfOf(lane)),
  listEntities: (...[tenant, owner, filter, page]) => ask(() => listEntities({ tenant, owner, filter, page })),
  relation: (tenant, id) => ask(() => reads.relationById(tenant, id)),
  around: (lane, asked) => askAtOnce(() => around(lane, asked)),
  listRelations: (...[tenant, owner, filter, page]) => ask(() => listRelations({ tenant, owner, filter, page })),
  statements: (lane, { entities }) => askAtOnce(() => reads.statementsAbout(lane, entities)),
  proposals: (tenant, owner) => askAtOnce(() => reads.proposalsOf(tenant, owner)),
  untold: (limit) => askAtOnce(() => untoldGraph({ lane: null, limit })),
  untoldOf: (lane, limit) => askAtOnce(() => untoldGraph({ lane, limit })),
  every: (kind, after, limit) => askAtOnce(() => everyOfGraph(kind, after, limit)),
});

export const GRAPH_KINDS = ['entity', 'relation'] as const;
