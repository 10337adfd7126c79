import type { GraphStore } from '../../ports/ledger/graph.ts';
import type { Entity, KeptRelation } from '../words.ts';
import type { GraphAsked } from './looking.ts';

export interface Neighbourhood {
  /** Of all relations' ends, the one it is about first. */
  readonly entities: readonly Entity[];
  readonly relations: readonly KeptRelation[];
  /** There is more than was asked for. */
  readonly truncated: boolean;
}

/** Entities the second step looks around: those nearest to the first, which are the most confirmed. */
const NEIGHBOURS_MAX = 500;

/** Relations around an entity, one or two relations away. */
export async function neighbourhoodOf(
  graph: Pick<GraphStore, 'around' | 'entities'>,
  { tenant, lane, at }: GraphAsked,
  { entity, depth, limit }: { readonly entity: Entity; readonly depth: number; readonly limit: number },
): Promise<Neighbourhood> {
  const near = await graph.around(lane, { entities: [entity.id], at, limit: limit + 1 });
  const others = [...new Set(near.flatMap(endsOf))].filter((id) => id !== entity.id).slice(0, NEIGHBOURS_MAX);
  const further =
    depth < 2 || others.length === 0 ? [] : await graph.around(lane, { entities: others, at, limit: limit + 1 });
  const all = [...new Map([...near, ...further].map((relation) => [relation.id, relation])).values()];
  const relations = all.slice(0, limit);
  return {
    entities: await endsIn(graph, { tenant, first: entity }, relations),
    relations,
    truncated: all.length > limit,
  };
}

/** The entities at the ends of relations, in the order they come in. */
async function endsIn(
  graph: Pick<GraphStore, 'entities'>,
  { tenant, first }: { readonly tenant: GraphAsked['tenant']; readonly first: Entity },
  relations: readonly KeptRelation[],
): Promise<readonly Entity[]> {
  const found = await endsOfRelations(graph, tenant, relations);
  return [first, ...found.filter(({ id }) => id !== first.id)];
}

export async function endsOfRelations(
  graph: Pick<GraphStore, 'entities'>,
  tenant: GraphAsked['tenant'],
  relations: readonly KeptRelation[],
): Promise<readonly Entity[]> {
  const ids = [...new Set(relations.flatMap(endsOf))];
  const byId = new Map((await graph.entities(tenant, ids)).map((entity) => [entity.id, entity]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

const endsOf = ({ source, destination }: KeptRelation): readonly string[] => [source, destination];
