import { pointsOfGraph } from '../graph/points.ts';
import { laneOf } from '../graph/project.ts';
import type { GraphTelling } from '../ports/ledger/graph.ts';
import type { IndexPoint, ShownPoint } from '../ports/search-index.ts';
import type { TenantId } from '../words.ts';
import type { DoctorDeps } from './findings.ts';

/** More changes of one lane than this are seldom on their way at a time. */
const UNTOLD_MAX = 1_000;
const PER_PAGE = 500;

/** What the ledger says of some points of the graph. */
export interface ExpectedGraph {
  readonly points: readonly IndexPoint[];
  /** By id. */
  readonly revisions: ReadonlyMap<string, number>;
  /** Ids of what the index is still to be told of. */
  onTheirWay(): Promise<ReadonlySet<string>>;
}

export async function expectedOfGraph(deps: DoctorDeps, shown: readonly ShownPoint[]): Promise<ExpectedGraph> {
  const tellings: GraphTelling[] = [];
  for (const [tenant, ofTenant] of Map.groupBy(shown, (point) => point.tenant))
    tellings.push(...(await inGraph(deps, tenant, ofTenant)));
  return {
    points: pointsOfGraph(tellings, NO_VECTORS).points,
    revisions: new Map(tellings.map(idAndRevision)),
    onTheirWay: async () => {
      const ids = new Set<string>();
      for (const lane of new Set([...tellings.map(laneOf), ...shown.map((point) => point.lane)]))
        for (const telling of await deps.ledger.graph.untoldOf(lane, UNTOLD_MAX)) ids.add(idAndRevision(telling)[0]);
      return ids;
    },
  };
}

/** How many points the index should have of each tenant's graph; null: it is still to be told of something. */
export async function graphPointsOf(deps: DoctorDeps): Promise<ReadonlyMap<TenantId, GraphCounts> | null> {
  const entities = await countsOf(deps, 'entity');
  const relations = await countsOf(deps, 'relation');
  if ((await deps.ledger.graph.untold(1)).length > 0) return null;
  const tenants = new Set([...entities.keys(), ...relations.keys()]);
  return new Map(
    [...tenants].map((tenant) => [
      tenant,
      { entities: entities.get(tenant) ?? 0, relations: relations.get(tenant) ?? 0 },
    ]),
  );
}

export interface GraphCounts {
  readonly entities: number;
  readonly relations: number;
}

async function countsOf({ ledger }: DoctorDeps, kind: GraphTelling['kind']): Promise<ReadonlyMap<TenantId, number>> {
  const counts = new Map<TenantId, number>();
  for (let after: string | null = null, more = true; more; ) {
    const page: readonly GraphTelling[] = await ledger.graph.every(kind, after, PER_PAGE);
    for (const telling of page) {
      const { tenant, id } = telling.kind === 'entity' ? telling.entity : telling.relation;
      counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
      after = id;
    }
    more = page.length === PER_PAGE;
  }
  return counts;
}

async function inGraph(
  { ledger: { graph } }: DoctorDeps,
  tenant: TenantId,
  shown: readonly ShownPoint[],
): Promise<readonly GraphTelling[]> {
  const idsOn = (shelf: ShownPoint['shelf']) => shown.filter((one) => one.shelf === shelf).map((one) => one.memoryId);
  const [entities, relations] = [idsOn('entities'), idsOn('relations')];
  const known = entities.length === 0 ? [] : await graph.entities(tenant, entities);
  const read = await Promise.all(relations.map((id) => graph.relation(tenant, id)));
  return [
    ...known.map((entity) => ({ kind: 'entity' as const, entity })),
    ...read.flatMap((relation) => (relation === null ? [] : [{ kind: 'relation' as const, relation }])),
  ];
}

const NONE = new Float32Array(0);
const NO_VECTORS = { vectorOf: () => NONE };

const idAndRevision = (telling: GraphTelling): readonly [string, number] => {
  const { id, revision } = telling.kind === 'relation' ? telling.relation : telling.entity;
  return [id, revision];
};
