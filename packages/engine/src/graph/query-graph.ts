import type { GraphStore } from '../ports/ledger/graph.ts';
import { allOf, InvalidCursorError, type Ledger } from '../ports/ledger/ledger.ts';
import type { LaneId, Millis, Owner, TenantId } from '../words.ts';
import { entitiesMeant, type KnownEntity } from './names.ts';
import { relationshipOf } from './relationships.ts';
import type { Entity, KeptRelation } from './words.ts';

export type TermAsked = { readonly kind: 'variable'; readonly name: string } | KnownEntity | null;

export interface PatternAsked {
  readonly source: TermAsked;
  readonly relationship: string | null;
  readonly destination: TermAsked;
}

interface GraphQuery extends GraphAsked {
  readonly what:
    | { readonly kind: 'match'; readonly patterns: readonly PatternAsked[] }
    | { readonly kind: 'path'; readonly from: KnownEntity; readonly to: KnownEntity; readonly maxHops: number };
  readonly limit: number;
  readonly cursor: string | null;
}

export interface GraphMatch {
  /** By variable, or of a path by 'from' and 'to'. */
  readonly entities: Readonly<Record<string, Entity>>;
  readonly relations: readonly KeptRelation[];
}

interface GraphAnswer {
  readonly matches: readonly GraphMatch[];
  readonly nextCursor: string | null;
  readonly truncated: boolean;
}

type Deps = { readonly ledger: Pick<Ledger, 'graph'> };

/**
 * Relations that fit the patterns together, one for each, and what each variable stands for. As ids: entities are read once, for the
 * page that is shown.
 */
interface Match {
  readonly bound: ReadonlyMap<string, string>;
  readonly relations: readonly KeptRelation[];
}

/** Answers a question about the graph of one owner, a page at a time. */
export async function queryGraph({ ledger }: Deps, query: GraphQuery): Promise<GraphAnswer> {
  const first = offsetOf(query.cursor);
  const end = first + query.limit;
  const look = looking(ledger.graph, query);
  const found = await bareMatches(ledger.graph, query, { look, count: end + 1 });
  return {
    matches: await withEntities(ledger.graph, query, found.slice(first, end)),
    nextCursor: found.length > end ? String(end) : null,
    truncated: look.truncated(),
  };
}

/** A cursor is how many matches were shown: the same question finds the same ones in the same order. */
function offsetOf(cursor: string | null): number {
  if (cursor === null) return 0;
  if (!/^\d{1,6}$/.test(cursor)) throw new InvalidCursorError();
  return Number(cursor);
}

type Graph = Ledger['graph'];

async function bareMatches(
  graph: Graph,
  query: GraphQuery,
  { look, count }: { readonly look: Looking; readonly count: number },
): Promise<readonly Match[]> {
  const idsOf = async (known: KnownEntity): Promise<string[]> =>
    (await entitiesMeant(graph, query, known)).map(({ id }) => id);
  if (query.what.kind === 'match') {
    const termOf = async (term: TermAsked): Promise<Term> =>
      term === null || term.kind === 'variable' ? term : { kind: 'entities', ids: await idsOf(term) };
    const patterns = query.what.patterns.map(generally).map(async ({ source, relationship, destination }) => ({
      source: await termOf(source),
      relationship,
      destination: await termOf(destination),
    }));
    return matchPatterns(look, await Promise.all(patterns));
  }
  const [from, to] = [await idsOf(query.what.from), await idsOf(query.what.to)];
  const paths = await pathsBetween(look, { from, to, maxHops: query.what.maxHops, count });
  return paths.map((relations) => ({ bound: boundEndsOf(relations, from), relations }));
}

/** A pattern as relations are kept: "?company employs ?who" is "?who works_at ?company". */
function generally(pattern: PatternAsked): PatternAsked {
  const general = pattern.relationship === null ? null : relationshipOf(pattern.relationship);
  if (general === null) return pattern;
  const { source, destination } = pattern;
  const relationship = general.name;
  return general.inverse
    ? { source: destination, relationship, destination: source }
    : { source, relationship, destination };
}

/** Where a path begins and where it has come to. */
function boundEndsOf(relations: readonly KeptRelation[], from: readonly string[]): ReadonlyMap<string, string> {
  const [first] = relations;
  const start = from.includes(first?.source ?? '') ? first?.source : first?.destination;
  const end = relations.reduce((at, { source, destination }) => (source === at ? destination : source), start ?? '');
  return new Map([
    ['from', start ?? ''],
    ['to', end],
  ]);
}

async function withEntities(
  graph: Graph,
  { tenant }: GraphQuery,
  found: readonly Match[],
): Promise<readonly GraphMatch[]> {
  const ids = [...new Set(found.flatMap(({ bound }) => [...bound.values()]))];
  const entities = new Map((await graph.entities(tenant, ids)).map((entity) => [entity.id, entity]));
  return found.map(({ bound, relations }) => ({
    entities: Object.fromEntries(
      [...bound].flatMap(([name, id]) => {
        const entity = entities.get(id);
        return entity === undefined ? [] : [[name, entity]];
      }),
    ),
    relations,
  }));
}

/** One end of a pattern: a variable, some of the known entities, or null: any. */
type Term =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'entities'; readonly ids: readonly string[] }
  | null;

interface Pattern {
  readonly source: Term;
  readonly relationship: string | null;
  readonly destination: Term;
}

/** Half-done matches that are kept at a time: more of them say nothing to anybody. */
const MATCHES_MAX = 1_000;

/** A match in the making: relations by the places of their patterns. */
interface Partial {
  readonly bound: ReadonlyMap<string, string>;
  readonly byPattern: ReadonlyMap<number, KeptRelation>;
}

/** Takes the pattern first of which most is known; each next one is looked for only around what was found before. */
async function matchPatterns(look: Looking, patterns: readonly Pattern[]): Promise<readonly Match[]> {
  let partials: readonly Partial[] = [{ bound: new Map(), byPattern: new Map() }];
  const open = new Set(patterns.keys());
  while (open.size > 0 && partials.length > 0) {
    const [first] = partials;
    const place = mostKnown(patterns, open, first?.bound ?? new Map());
    const pattern = patterns[place] as Pattern;
    const relations = await candidates(look, pattern, partials);
    partials = extended(look, { place, pattern, relations }, partials);
    open.delete(place);
  }
  return partials.map(({ bound, byPattern }) => ({
    bound,
    relations: patterns.map((_, place) => byPattern.get(place) as KeptRelation),
  }));
}

function mostKnown(
  patterns: readonly Pattern[],
  open: ReadonlySet<number>,
  bound: ReadonlyMap<string, string>,
): number {
  const isKnown = (term: Term): boolean => term !== null && (term.kind === 'entities' || bound.has(term.name));
  const knownOf = ({ source, relationship, destination }: Pattern): number =>
    2 * (Number(isKnown(source)) + Number(isKnown(destination))) + Number(relationship !== null);
  return [...open].reduce((best, place) =>
    knownOf(patterns[place] as Pattern) > knownOf(patterns[best] as Pattern) ? place : best,
  );
}

/** Relations that may fit a pattern in any of the matches. */
async function candidates(
  look: Looking,
  pattern: Pattern,
  partials: readonly Partial[],
): Promise<readonly KeptRelation[]> {
  const ends = [idsOf(pattern.source, partials), idsOf(pattern.destination, partials)].filter((ids) => ids !== null);
  const [fewest] = ends.toSorted((a, b) => a.length - b.length);
  const found = fewest === undefined ? await look.all(pattern.relationship) : await near(look, pattern, fewest);
  if (!found.whole) look.cut();
  return found.relations.filter(
    ({ relationship }) => pattern.relationship === null || relationship === pattern.relationship,
  );
}

/** Around some entities; where there is too much around them, what has the relationship, wherever. */
async function near(look: Looking, { relationship }: Pattern, ids: readonly string[]): Promise<Found> {
  const found = await look.around(ids);
  if (found.whole || relationship === null) return found;
  const others = await look.all(relationship);
  return { relations: unique([...found.relations, ...others.relations]), whole: others.whole };
}

const unique = (relations: readonly KeptRelation[]): readonly KeptRelation[] => [
  ...new Map(relations.map((relation) => [relation.id, relation])).values(),
];

/** What an end may be by now; null: anything. */
function idsOf(term: Term, partials: readonly Partial[]): readonly string[] | null {
  if (term === null) return null;
  if (term.kind === 'entities') return term.ids;
  const ids = partials.map(({ bound }) => bound.get(term.name));
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : null;
}

interface Extension {
  readonly place: number;
  readonly pattern: Pattern;
  readonly relations: readonly KeptRelation[];
}

function extended(look: Looking, extension: Extension, partials: readonly Partial[]): readonly Partial[] {
  const next: Partial[] = [];
  for (const partial of partials) {
    next.push(...extensionsOf(partial, extension));
    if (next.length <= MATCHES_MAX) continue;
    look.cut();
    return next.slice(0, MATCHES_MAX);
  }
  return next;
}

/** A match with each relation in the place of the pattern that fits there and has no place in it yet. */
const extensionsOf = ({ bound, byPattern }: Partial, { place, pattern, relations }: Extension): readonly Partial[] =>
  relations.flatMap((relation) => {
    const fitting = taken(pattern, relation, bound);
    if (fitting === null || [...byPattern.values()].some(({ id }) => id === relation.id)) return [];
    return [{ bound: fitting, byPattern: new Map([...byPattern, [place, relation]]) }];
  });

/** What is bound when a relation takes the place of a pattern; null: it does not fit. */
function taken(
  { source, destination }: Pattern,
  relation: KeptRelation,
  bound: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | null {
  const begun = bind(source, relation.source, bound);
  return begun === null ? null : bind(destination, relation.destination, begun);
}

function bind(term: Term, id: string, bound: ReadonlyMap<string, string>): ReadonlyMap<string, string> | null {
  if (term === null) return bound;
  if (term.kind === 'entities') return term.ids.includes(id) ? bound : null;
  const known = bound.get(term.name);
  if (known === undefined) return new Map([...bound, [term.name, id]]);
  return known === id ? bound : null;
}

/** Whose graph is asked, and of when. */
export interface GraphAsked {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly lane: LaneId;
  readonly at: Millis | null | 'ever';
}

interface Found {
  readonly relations: readonly KeptRelation[];
  /** false: there are more. */
  readonly whole: boolean;
}

/** Looks around in a graph, with an end to it: no question takes the longer the more an owner has. */
export interface Looking {
  around(entities: readonly string[]): Promise<Found>;
  /** With one relationship, or any: those that began first. */
  all(relationship: string | null): Promise<Found>;
  /** Notes that something was left out that may have mattered. */
  cut(): void;
  truncated(): boolean;
}

/** Relations that one look brings, and all looks of one question together. */
const LOOK_MAX = 1_000;
const ALL_MAX = 6_000;

function looking(graph: Pick<GraphStore, 'around' | 'listRelations'>, asked: GraphAsked): Looking {
  const { tenant, owner, lane, at } = asked;
  let left = ALL_MAX;
  let truncated = false;
  const counted = (relations: readonly KeptRelation[], limit: number): Found => {
    left -= relations.length;
    return { relations, whole: relations.length < limit };
  };
  return {
    around: async (entities) => {
      const limit = Math.min(LOOK_MAX, left);
      if (entities.length === 0) return { relations: [], whole: true };
      if (limit <= 0) return { relations: [], whole: false };
      return counted(await graph.around(lane, { entities, at, limit }), limit);
    },
    all: async (relationship) => {
      const limit = Math.min(LOOK_MAX, left);
      const filter = { at, ...(relationship !== null && { relationship }) };
      return counted(await allOf((page) => graph.listRelations(tenant, owner, filter, page), limit), limit);
    },
    cut: () => {
      truncated = true;
    },
    truncated: () => truncated,
  };
}

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
async function pathsBetween(look: Looking, asked: PathsAsked): Promise<readonly (readonly KeptRelation[])[]> {
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

interface Neighbourhood {
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
