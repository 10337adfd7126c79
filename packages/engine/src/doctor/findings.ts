import type { EngineDeps, EngineSettings } from '../deps.ts';
import { idOf, laneOf, pointsOfGraph } from '../graph/project.ts';
import type { GraphItem } from '../ports/ledger/graph.ts';
import { slicesOf } from '../ports/ledger/ledger.ts';
import type { SpokenBatch } from '../ports/ledger/outbox.ts';
import type { Suspects } from '../ports/ledger/overview.ts';
import { type IndexPoint, type ShownPoint, shownPart } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { creditsOf, heard, pointsOf, pointsOfBatch } from '../projection/make-points.ts';
import type { Thinker } from '../replays/in-space.ts';
import { canonical } from '../text/normalise.ts';
import type { Memory, TenantId } from '../words.ts';
import type { Sleeping } from './checks.ts';

/** What is looked at, in this order. */
export const CHECKS = [
  'batches',
  'lanes',
  'parked',
  'outbox',
  'orphans',
  'memories',
  'plans',
  'index',
  'segments',
  'gate',
] as const;
export type CheckName = (typeof CHECKS)[number];

/**
 * quick   figures that every ledger has at hand; for measuring again and again
 * usual   everything that is counted, and samples of what has to be read
 * full    everything
 */
export type Depth = 'quick' | 'usual' | 'full';

/** Something that is not as it should be, and what to do about it. */
export interface Finding {
  readonly check: CheckName;
  /** error: a promise is broken. warning: nothing is lost, but somebody should look. */
  readonly severity: 'error' | 'warning';
  readonly what: string;
  readonly count: number;
  /** Ids of some of them. */
  readonly examples: readonly string[];
  readonly remedy: string;
}

export interface Checked {
  readonly looked: number;
  readonly findings: readonly Finding[];
}

export type DoctorDeps = Pick<EngineDeps, 'ledger' | 'index' | 'embedder' | 'tools'> & {
  readonly settings: Pick<EngineSettings, 'messagesInIndex'>;
  /** Missing: only stores are open, nobody thinks here. */
  readonly thinker?: Thinker;
  /** Missing: nobody sleeps. */
  readonly sleeping?: Sleeping;
};

/** What a check works with. */
export interface Examining {
  readonly deps: DoctorDeps;
  readonly depth: Depth;
  readonly cancel: Cancellation;
  onProgress(done: number, total: number): void;
}

/** Examples beside a count. */
export const EXAMPLES_MAX = 5;

export const REPORT_IT =
  'this must never happen: keep the ledger as it is (slowwave backup), and report it with the output of ' +
  'slowwave doctor --full --json';

/** Of what a ledger found in itself; nothing where it found nothing. */
export const findingOf = (
  { count, examples }: Suspects,
  finding: Omit<Finding, 'count' | 'examples'>,
): readonly Finding[] => (count === 0 ? [] : [{ ...finding, count, examples }]);

/** What the ledger says of some points of the index. */
interface Expected {
  /** Whether the point says what the ledger says. */
  says(point: ShownPoint): boolean;
  /** Whether there should be such a point, whatever it says. */
  has(point: ShownPoint): boolean;
  /** Whether the point is of a time after the ledger was asked. */
  isOlderThan(point: ShownPoint): boolean;
  /** Those of the points, by name, that are still to be projected. */
  onTheirWay(): Promise<ReadonlySet<string>>;
}

/** Of every point on a page, what should be there in its place. */
export async function expectedOf(deps: DoctorDeps, points: readonly ShownPoint[]): Promise<Expected> {
  const shelves = Map.groupBy(points, ({ shelf }) => shelf);
  const memories = await memoriesOf(deps, shelves.get('memories') ?? []);
  const batches = await batchesOf(deps, shelves.get('messages') ?? []);
  const graph = await expectedOfGraph(deps, [...(shelves.get('entities') ?? []), ...(shelves.get('relations') ?? [])]);
  const spoken = batches.flatMap((batch) => pointsOfBatch(batch, NO_VECTORS));
  const made = [...(await remembered(deps, memories)), ...spoken, ...graph.points];
  const expected = new Map(made.map((point) => [nameOf(point), { revision: point.revision, text: textOf(point) }]));
  const revisions = new Map([...revisionsOf(memories, batches), ...graph.revisions]);
  return {
    says: (point) => {
      const wanted = expected.get(nameOf(point));
      if (wanted === undefined) return false;
      // A batch that another one follows is raised without writing all its messages again.
      const isEarlier = point.shelf === 'messages' && point.revision < wanted.revision;
      return wanted.text === canonical(isEarlier ? { ...point, revision: wanted.revision } : point);
    },
    has: (point) => expected.has(nameOf(point)),
    isOlderThan: (point) => point.revision > (revisions.get(point.memoryId) ?? point.revision),
    onTheirWay: async () => {
      const entries = await deps.ledger.outbox.ofMemories(memories.map(({ id }) => id));
      const ids = new Set([...entries.map(({ memoryId }) => memoryId), ...(await graph.onTheirWay())]);
      const again = await deps.ledger.speech.batches(batches.map(({ id }) => id));
      for (const { messages } of again.filter(({ projected }) => !projected))
        for (const { message } of messages) ids.add(message.id);
      return new Set(points.filter(({ memoryId }) => ids.has(memoryId)).map(nameOf));
    },
  };
}

export const nameOf = ({ memoryId, version }: Pick<ShownPoint, 'memoryId' | 'version'>): string =>
  `${memoryId} version ${version}`;

const NO_VECTOR = new Float32Array(0);
const NO_VECTORS = { vectorOf: () => NO_VECTOR };

const textOf = (point: IndexPoint): string => canonical(shownPart(point));

/** By the ids of memories and messages. */
function revisionsOf(memories: readonly Memory[], batches: readonly SpokenBatch[]): ReadonlyMap<string, number> {
  const ofMessages = batches.flatMap(({ revision, messages }) =>
    messages.map(({ message }) => [message.id, revision] as const),
  );
  return new Map([...memories.map(({ id, revision }) => [id, revision] as const), ...ofMessages]);
}

async function remembered(deps: DoctorDeps, memories: readonly Memory[]): Promise<readonly IndexPoint[]> {
  const points: IndexPoint[] = [];
  for (const [lane, ofLane] of Map.groupBy(memories, (memory) => memory.lane)) {
    const said = await heard(deps, lane, ofLane);
    const ids = ofLane.map(({ id }) => id);
    const credits = await creditsOf(deps, ids);
    points.push(...ofLane.flatMap((memory) => pointsOf(memory, { ...NO_VECTORS, said, credits })));
  }
  return points;
}

async function memoriesOf({ ledger }: DoctorDeps, points: readonly ShownPoint[]): Promise<readonly Memory[]> {
  const found: Memory[] = [];
  for (const [tenant, ofTenant] of Map.groupBy(points, (point) => point.tenant))
    found.push(...(await ledger.memories.many(tenant, [...new Set(ofTenant.map(({ memoryId }) => memoryId))])));
  return found;
}

async function batchesOf({ ledger }: DoctorDeps, points: readonly ShownPoint[]): Promise<readonly SpokenBatch[]> {
  const ids = new Set<string>();
  for (const [tenant, ofTenant] of Map.groupBy(points, (point) => point.tenant)) {
    const messages = await ledger.memories.messages(
      tenant,
      ofTenant.map(({ memoryId }) => memoryId),
    );
    for (const { batchId } of messages.values()) ids.add(batchId);
  }
  return ids.size === 0 ? [] : ledger.speech.batches([...ids]);
}

/** More changes of one lane than this are seldom on their way at a time. */
const UNPROJECTED_MAX = 1_000;

/** What the ledger says of some points of the graph. */
interface ExpectedGraph {
  readonly points: readonly IndexPoint[];
  /** By id. */
  readonly revisions: ReadonlyMap<string, number>;
  /** Ids of what is still to be projected. */
  onTheirWay(): Promise<ReadonlySet<string>>;
}

async function expectedOfGraph(deps: DoctorDeps, shown: readonly ShownPoint[]): Promise<ExpectedGraph> {
  const items: GraphItem[] = [];
  for (const [tenant, ofTenant] of Map.groupBy(shown, (point) => point.tenant))
    items.push(...(await inGraph(deps, tenant, ofTenant)));
  return {
    points: pointsOfGraph(items, NO_VECTORS).points,
    revisions: new Map(items.map(idAndRevision)),
    onTheirWay: async () => {
      const ids = new Set<string>();
      for (const lane of new Set([...items.map(laneOf), ...shown.map((point) => point.lane)]))
        for (const item of await deps.ledger.graph.unprojectedOf(lane, UNPROJECTED_MAX))
          ids.add(idAndRevision(item)[0]);
      return ids;
    },
  };
}

/** How many points the index should have of each tenant's graph; null: something is still to be projected. */
export async function graphPointsOf(deps: DoctorDeps): Promise<ReadonlyMap<TenantId, GraphCounts> | null> {
  const entities = await countsOf(deps, 'entity');
  const relations = await countsOf(deps, 'relation');
  if ((await deps.ledger.graph.unprojected(1)).length > 0) return null;
  const tenants = new Set([...entities.keys(), ...relations.keys()]);
  return new Map(
    [...tenants].map((tenant) => [
      tenant,
      { entities: entities.get(tenant) ?? 0, relations: relations.get(tenant) ?? 0 },
    ]),
  );
}

interface GraphCounts {
  readonly entities: number;
  readonly relations: number;
}

async function countsOf({ ledger }: DoctorDeps, kind: GraphItem['kind']): Promise<ReadonlyMap<TenantId, number>> {
  const counts = new Map<TenantId, number>();
  const every = (last: GraphItem | null, limit: number) =>
    ledger.graph.every(kind, last === null ? null : idOf(last), limit);
  for await (const page of slicesOf(every)) {
    for (const item of page) {
      const { tenant } = item.kind === 'entity' ? item.entity : item.relation;
      counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    }
  }
  return counts;
}

async function inGraph(
  { ledger: { graph } }: DoctorDeps,
  tenant: TenantId,
  shown: readonly ShownPoint[],
): Promise<readonly GraphItem[]> {
  const idsOn = (shelf: ShownPoint['shelf']) => shown.filter((one) => one.shelf === shelf).map((one) => one.memoryId);
  const [entities, relations] = [idsOn('entities'), idsOn('relations')];
  const known = entities.length === 0 ? [] : await graph.entities(tenant, entities);
  const said = relations.length === 0 ? [] : await graph.relations(tenant, relations);
  return [
    ...known.map((entity) => ({ kind: 'entity' as const, entity })),
    ...said.map((relation) => ({ kind: 'relation' as const, relation })),
  ];
}

const idAndRevision = (item: GraphItem): readonly [string, number] => {
  const { id, revision } = item.kind === 'relation' ? item.relation : item.entity;
  return [id, revision];
};
