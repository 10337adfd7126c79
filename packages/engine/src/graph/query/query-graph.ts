import type { GraphStore } from '../../ports/ledger/graph.ts';
import { type Ledger, allOf, InvalidCursorError } from '../../ports/ledger/ledger.ts';
import type { LaneId, Millis, Owner, TenantId } from '../../words.ts';
import { entitiesMeant, type KnownEntity } from '../names.ts';
import { relationshipOf } from '../relationships.ts';
import type { Entity, KeptRelation } from '../words.ts';
import { pathsBetween } from './paths-between.ts';

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

/** A match as ids: entities are read once, for the page that is shown. */
interface Bare {
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
): Promise<readonly Bare[]> {
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
  return paths.map((relations) => ({ bound: endsOf(relations, from), relations }));
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
function endsOf(relations: readonly KeptRelation[], from: readonly string[]): ReadonlyMap<string, string> {
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
  found: readonly Bare[],
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

/** Relations that fit the patterns together, one for each, and what each variable stands for. */
interface Match {
  readonly bound: ReadonlyMap<string, string>;
  readonly relations: readonly KeptRelation[];
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
