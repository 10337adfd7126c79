import type { Ledger } from '../../ports/ledger/ledger.ts';
import { InvalidCursorError } from '../../ports/ledger/page.ts';
import { entitiesMeant, type KnownEntity } from '../names.ts';
import { relationshipOf } from '../relationships.ts';
import type { Entity, KeptRelation } from '../words.ts';
import { type GraphAsked, type Looking, looking, matchPatterns, type Term } from './match-patterns.ts';
import { pathsBetween } from './paths-between.ts';

export type TermAsked = { readonly kind: 'variable'; readonly name: string } | KnownEntity | null;

export interface PatternAsked {
  readonly source: TermAsked;
  readonly relationship: string | null;
  readonly destination: TermAsked;
}

export interface GraphQuery extends GraphAsked {
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

export interface GraphAnswer {
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
