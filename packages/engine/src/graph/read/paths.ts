import { type Cover, joined, sum, type Wording, withoutIdle } from './coverage.ts';
import type { Seed } from './seeds.ts';
import type { SeenRelation } from './seen.ts';

/** Relations in a row: "Ana's sister's employer makes" are three. */
export const STEPS_MAX = 3;
/** What is left of a path's worth with a step that brings something the question wants, and with one that brings nothing. */
const STEP = { wanted: 0.95, idle: 0.5 } as const;
/** The part of its worth that a path has by its place alone. */
const BY_PLACE = 0.15;
/** Paths that are followed further: to each entity the best, and of all entities the best. */
const PER_ENTITY = 3;
const FOLLOWED_MAX = 150;

/** A way from where the question begins to an entity. */
interface Path {
  readonly entity: string;
  readonly passed: readonly string[];
  readonly cover: Cover;
  readonly worth: number;
}

export interface Walked {
  /** By the ids of relations, the worth of the best path that ends with it, 0…1. */
  readonly scores: ReadonlyMap<string, number>;
  /** The entities that the best paths end at, best first. */
  readonly ends: readonly string[];
  /** There is a path that has all that the question wants. */
  readonly whole: boolean;
}

/**
 * Follows relations from where a question begins, in either direction. A path is worth more the more of the question's words
 * its relations have, each once; steps that bring nothing make it worth less.
 */
export function walkPaths(
  seeds: readonly Seed[],
  relations: readonly SeenRelation[],
  { wording, steps = STEPS_MAX }: { readonly wording: Wording; readonly steps?: number },
): Walked {
  const map = mapOf(relations, wording);
  const scores = new Map<string, number>();
  let paths: readonly Path[] = seeds.map(({ id, weight }) => ({
    ...{ entity: id, passed: [id], cover: map.none, worth: weight },
  }));
  let whole = false;
  for (let step = 0; step < steps; step += 1) {
    const further = paths.flatMap((path) => continued(path, map, scores));
    whole ||= map.wanted && further.some(({ cover }) => cover.every((value) => value > 0));
    paths = bestOf(further, map.most);
  }
  return { scores, whole, ends: [...new Set(paths.map(({ entity }) => entity))] };
}

interface Known {
  readonly relation: SeenRelation;
  readonly cover: Cover;
}

interface RelationMap {
  /** The question wants something, and there is a relation for all of it. */
  readonly wanted: boolean;
  /** A cover that has nothing. */
  readonly none: Cover;
  readonly around: ReadonlyMap<string, readonly Known[]>;
  /** All that any of the relations together have of the question. */
  readonly most: number;
}

function mapOf(relations: readonly SeenRelation[], wording: Wording): RelationMap {
  const around = new Map<string, Known[]>();
  const whole = relations.map(wording.cover);
  const covers = withoutIdle(whole);
  for (const [i, relation] of relations.entries()) {
    const known = { relation, cover: covers[i] ?? [] };
    for (const end of new Set([relation.source, relation.destination])) {
      const others = around.get(end) ?? [];
      others.push(known);
      around.set(end, others);
    }
  }
  const none = (covers[0] ?? []).map(() => 0);
  const wanted = none.length > 0 && none.length === whole[0]?.length;
  return { wanted, none, around, most: sum(covers.reduce(joined, none)) };
}

/** The path with each relation that goes on from its end; what those are worth is noted. */
function continued(path: Path, { around, most }: RelationMap, scores: Map<string, number>): Path[] {
  return (around.get(path.entity) ?? []).flatMap(({ relation, cover: own }) => {
    const entity = relation.source === path.entity ? relation.destination : relation.source;
    if (path.passed.includes(entity)) return [];
    const cover = joined(path.cover, own);
    const brings = most === 0 || sum(cover) > sum(path.cover);
    const next = {
      ...{ entity, passed: [...path.passed, entity], cover },
      worth: path.worth * (brings ? STEP.wanted : STEP.idle),
    };
    scores.set(relation.id, Math.max(scores.get(relation.id) ?? 0, merit(next, most)));
    return [next];
  });
}

const merit = ({ worth, cover }: Path, most: number): number =>
  worth * (most === 0 ? 1 : BY_PLACE + (1 - BY_PLACE) * (sum(cover) / most));

function bestOf(paths: readonly Path[], most: number): Path[] {
  const taken = new Map<string, number>();
  const inOrder = paths.toSorted((a, b) => merit(b, most) - merit(a, most) || compare(a.entity, b.entity));
  return inOrder
    .filter(({ entity }) => {
      const count = (taken.get(entity) ?? 0) + 1;
      taken.set(entity, count);
      return count <= PER_ENTITY;
    })
    .slice(0, FOLLOWED_MAX);
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
