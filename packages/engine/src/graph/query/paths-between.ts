import type { GraphStore } from '../../ports/ledger/graph.ts';
import type { Entity, KeptRelation } from '../words.ts';
import type { GraphAsked, Looking } from './query-graph.ts';

interface PathsAsked {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly maxHops: number;
  /** No more than so many are looked for. */
  readonly count: number;
}

/** Entities one step looks around, and relations that are tried on the way to paths. */
const FRONTIER_MAX = 500;
const STEPS_MAX = 50_000;

/**
 * Ways from some entities to others along relations in either direction, shortest first, no entity twice. Both sides are
 * looked around in turns, the smaller one first, until they are as far apart as is asked.
 */
export async function pathsBetween(look: Looking, asked: PathsAsked): Promise<readonly (readonly KeptRelation[])[]> {
  const known = new Map<string, KeptRelation>();
  const sides = [sideOf(asked.from), sideOf(asked.to)];
  let paths: readonly (readonly KeptRelation[])[] = [];
  for (let hops = 1; hops <= asked.maxHops && paths.length < asked.count; hops += 1) {
    const [next] = sides.toSorted((a, b) => a.frontier.length - b.frontier.length);
    if (next === undefined || next.frontier.length === 0) break;
    await widen(look, next, known);
    paths = pathsAmong(look, [...known.values()], { ...asked, maxHops: hops });
  }
  return paths;
}

interface Side {
  readonly seen: Set<string>;
  frontier: readonly string[];
}

const sideOf = (ids: readonly string[]): Side => ({ seen: new Set(ids), frontier: [...new Set(ids)] });

async function widen(look: Looking, side: Side, known: Map<string, KeptRelation>): Promise<void> {
  if (side.frontier.length > FRONTIER_MAX) look.cut();
  const { relations, whole } = await look.around(side.frontier.slice(0, FRONTIER_MAX));
  if (!whole) look.cut();
  const further = new Set<string>();
  for (const relation of relations) {
    known.set(relation.id, relation);
    for (const id of [relation.source, relation.destination]) if (!side.seen.has(id)) further.add(id);
  }
  for (const id of further) side.seen.add(id);
  side.frontier = [...further];
}

interface Way {
  readonly at: string;
  readonly path: readonly KeptRelation[];
  readonly passed: readonly string[];
}

type Step = readonly [relation: KeptRelation, to: string];

function pathsAmong(
  look: Looking,
  relations: readonly KeptRelation[],
  { from, to, maxHops, count }: PathsAsked,
): readonly (readonly KeptRelation[])[] {
  const steps = stepsOf(relations);
  const distance = distancesTo(to, steps);
  const paths: (readonly KeptRelation[])[] = [];
  let tried = 0;
  const walk = ({ at, path, passed }: Way, left: number): void => {
    if (left === 0) {
      paths.push(path);
      return;
    }
    for (const [relation, next] of steps.get(at) ?? []) {
      tried += 1;
      if (tried > STEPS_MAX || paths.length >= count) return;
      // What has arrived goes no further, and what cannot arrive with the last step does not set out.
      const apart = distance.get(next) ?? Number.POSITIVE_INFINITY;
      if (passed.includes(next) || apart > left - 1 || (apart === 0 && left > 1)) continue;
      walk({ at: next, path: [...path, relation], passed: [...passed, next] }, left - 1);
    }
  };
  for (let hops = 1; hops <= maxHops; hops += 1) {
    for (const start of new Set(from)) if (!to.includes(start)) walk({ at: start, path: [], passed: [start] }, hops);
  }
  if (tried > STEPS_MAX) look.cut();
  return paths;
}

function stepsOf(relations: readonly KeptRelation[]): ReadonlyMap<string, readonly Step[]> {
  const steps = new Map<string, Step[]>();
  const add = (from: string, step: Step): void => {
    const known = steps.get(from);
    if (known === undefined) steps.set(from, [step]);
    else known.push(step);
  };
  for (const relation of relations) {
    add(relation.source, [relation, relation.destination]);
    add(relation.destination, [relation, relation.source]);
  }
  return steps;
}

/** How many relations each entity is away from where a path shall end. */
function distancesTo(
  ends: readonly string[],
  steps: ReadonlyMap<string, readonly Step[]>,
): ReadonlyMap<string, number> {
  const distance = new Map<string, number>(ends.map((id) => [id, 0]));
  for (let ring: readonly string[] = ends, hops = 1; ring.length > 0; hops += 1) {
    const next: string[] = [];
    for (const id of ring) {
      for (const [, other] of steps.get(id) ?? []) {
        if (distance.has(other)) continue;
        distance.set(other, hops);
        next.push(other);
      }
    }
    ring = next;
  }
  return distance;
}

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
