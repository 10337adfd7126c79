import {
  DRAWN_RELATIONS_MAX,
  EntityList,
  EntityNeighbourhood,
  GetEntityQuery,
  GetGraphQuery,
  GraphMatches,
  GraphView,
  type KnownEntity as KnownBody,
  ListEntitiesQuery,
  ListProposalsQuery,
  ListRelationsQuery,
  PostGraphQuery,
  ProposalList,
  RelationList,
  RelationView,
  StatementList,
} from '@slowwave/contracts';
import {
  type Entity,
  endsOfRelations,
  entityView,
  type GraphAsked,
  type GraphMatch,
  type KeptRelation,
  type KnownEntity,
  type Ledger,
  millisOf,
  neighbourhoodOf,
  normaliseText,
  type Owner,
  ownerOf,
  type PatternAsked,
  queryGraph,
  relationView,
  type ScopeIds,
  scopeOf,
  statementView,
  type TenantId,
  type TermAsked,
} from '@slowwave/engine';
import {
  type FastifyReply,
  type FastifyRequest,
  given,
  IdParams,
  listed,
  mayKnow,
  notFound,
  pageOf,
  problem,
  requestTenant,
} from '@slowwave/http';
import { z } from 'zod';
import { routesOf, type SearchDeps } from '../deps.ts';
import { dotOf, mermaidOf, svgOf } from './draw.ts';

const route = routesOf('graph');

/** Reading the graph. */
export const graphRoutes = [
  route('GET /v1/graph', {
    id: 'getGraph',
    summary: "Get an owner's graph as JSON, Graphviz, Mermaid or SVG",
    description:
      'Returns the entities and current relations, oldest first. With as_of, the relations that were true at that ' +
      'time; with ended=true, also relations that have ended (dashed in drawings).',
    query: GetGraphQuery,
    answer: { 200: inFormats(GraphView) },
    bounds: { by: 'query', apps: false },
    handle: async (deps, { query, request, reply }) => {
      const { format, limit } = query;
      const asked = await graphAsked(deps, request, query);
      const shown = asked === null ? NOTHING : await shownOf(deps.ledger, asked, limitOf(format, limit));
      if (format === 'json') return graphView(shown);
      return sendDrawing(reply, drawingOf(format, shown));
    },
  }),
  route('POST /v1/graph/query', {
    id: 'queryGraph',
    summary: 'Find relations that match patterns, or paths between two entities',
    description:
      'match: finds relations that match all patterns; a variable like "?who" stands for the same entity everywhere. ' +
      'path: finds paths from one entity to another, shortest first. No model is used.',
    body: PostGraphQuery,
    answer: GraphMatches,
    bounds: { by: 'body', apps: false },
    handle: async (deps, { body, request }) => {
      const { limit, cursor } = body;
      const asked = await graphAsked(deps, request, body);
      if (asked === null) return { results: [], next_cursor: null, truncated: false };
      const what = whatOf(body);
      const answer = await queryGraph(deps, { ...asked, what, limit, cursor: cursor ?? null });
      const { matches, nextCursor, truncated } = answer;
      return { results: matches.map(matchView), next_cursor: nextCursor, truncated };
    },
  }),
  route('GET /v1/graph/proposals', {
    id: 'listProposals',
    summary: 'List entities that may be the same, for a person to decide',
    description: 'Use POST /v1/entities/{id}/merge if they are the same, POST /v1/entities/{id}/split if they are not.',
    query: ListProposalsQuery,
    answer: ProposalList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const found = await ledger.graph.proposals(tenant, ownerAsked(query));
      const results = found.map(({ source, destination, likeness }) => ({
        source: entityView(source),
        destination: entityView(destination),
        likeness,
      }));
      return { results, next_cursor: null };
    },
  }),
  route('GET /v1/entities', {
    id: 'listEntities',
    summary: "List the entities of an owner's graph, by name",
    query: ListEntitiesQuery,
    answer: EntityList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const filter = given({ like: query.like && normaliseText(query.like) });
      const entities = await ledger.graph.listEntities(tenant, ownerAsked(query), filter, pageOf(query));
      return listed(entities, entityView);
    },
  }),
  route('GET /v1/entities/:id', {
    id: 'getEntity',
    summary: 'Get an entity and its neighbourhood',
    description:
      'The most confirmed and newest relations come first. For an entity that was merged into another, the ' +
      'neighbourhood of the other one is returned.',
    params: IdParams,
    query: GetEntityQuery,
    answer: { 200: inFormats(EntityNeighbourhood) },
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger }, { params, query, request, reply }) => {
      const { depth, format, limit } = query;
      const entity = await existingEntity(ledger, request, params.id);
      const standing = entity.mergedInto === null ? entity : await existingEntity(ledger, request, entity.mergedInto);
      const asked = { ...standing, at: timeAsked(query) };
      const around = { entity: standing, depth, limit: limitOf(format, limit) };
      const shown = await neighbourhoodOf(ledger.graph, asked, around);
      if (format === 'json') return { entity: entityView(entity), ...graphView(shown) };
      return sendDrawing(reply, drawingOf(format, shown));
    },
  }),
  route('GET /v1/entities/:id/history', {
    id: 'getEntityHistory',
    summary: 'Get the history of an entity',
    description: 'Returns the newest 1,000 statements that name it in the order they were said, including undone ones.',
    params: IdParams,
    answer: StatementList,
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger }, { params, request }) => {
      const { id, lane } = await existingEntity(ledger, request, params.id);
      const said = await ledger.graph.statements(lane, { entities: [id] });
      return newestOf(said);
    },
  }),
  route('GET /v1/relations', {
    id: 'listRelations',
    summary: "List the relations of an owner's graph, oldest first",
    query: ListRelationsQuery,
    answer: RelationList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const filter = { at: timeAsked(query), ...given({ relationship: query.relationship }) };
      const relations = await ledger.graph.listRelations(tenant, ownerAsked(query), filter, pageOf(query));
      return listed(relations, relationView);
    },
  }),
  route('GET /v1/relations/:id', {
    id: 'getRelation',
    summary: 'Get a relation',
    params: IdParams,
    answer: RelationView,
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger }, { params, request }) => {
      const { id } = params;
      const relation = await existingRelation(ledger, request, id);
      if (relation.counts) return relationView(relation);
      throw problem(
        'not_found',
        `relation ${id} is no longer valid: it was undone or denied; see /v1/relations/${id}/history`,
      );
    },
  }),
  route('GET /v1/relations/:id/history', {
    id: 'getRelationHistory',
    summary: 'Get the history of a relation',
    description:
      'Returns the newest 1,000 statements about its source, relationship and destination in the order they were ' +
      'said, including undone ones.',
    params: IdParams,
    answer: StatementList,
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger }, { params, request }) => {
      const relation = await existingRelation(ledger, request, params.id);
      return newestOf(await saidOf(ledger, relation));
    },
  }),
];

const NOTHING: Shown = { entities: [], relations: [], truncated: false };
const PAGE_MAX = 200;

async function shownOf({ graph }: Pick<Ledger, 'graph'>, asked: GraphAsked, limit: number): Promise<Shown> {
  const { tenant, owner, at } = asked;
  const relations: KeptRelation[] = [];
  let cursor: string | null = null;
  do {
    const page = { limit: Math.min(PAGE_MAX, limit - relations.length), cursor };
    const { results, nextCursor } = await graph.listRelations(tenant, owner, { at }, page);
    relations.push(...results);
    cursor = nextCursor;
  } while (cursor !== null && relations.length < limit);
  return { entities: await endsOfRelations(graph, tenant, relations), relations, truncated: cursor !== null };
}

type Format = 'json' | 'dot' | 'mermaid' | 'svg';

/** Part of a graph, as it was read. */
interface Shown {
  readonly entities: readonly Entity[];
  readonly relations: readonly KeptRelation[];
  readonly truncated: boolean;
}

/** A drawing instead of JSON. */
interface Drawing {
  readonly type: string;
  readonly text: string;
}

/** The most relations to read for a format: larger drawings are unreadable. */
const limitOf = (format: Format, limit: number): number =>
  format === 'svg' ? Math.min(limit, DRAWN_RELATIONS_MAX) : limit;

function drawingOf(format: Exclude<Format, 'json'>, picture: Pick<Shown, 'entities' | 'relations'>): Drawing {
  switch (format) {
    case 'dot':
      return { type: 'text/vnd.graphviz; charset=utf-8', text: dotOf(picture) };
    case 'mermaid':
      return { type: 'text/vnd.mermaid; charset=utf-8', text: mermaidOf(picture) };
    case 'svg':
      return { type: 'image/svg+xml; charset=utf-8', text: svgOf(picture) };
  }
}

const sendDrawing = (reply: FastifyReply, { type, text }: Drawing) =>
  reply
    .type(type)
    .serializer((drawn: unknown) => String(drawn))
    .send(text);

const graphView = ({ entities, relations, truncated }: Shown) => ({
  entities: entities.map(entityView),
  relations: relations.map(relationView),
  truncated,
});

/** The response of a route that can also draw. */
function inFormats<T extends z.ZodType>(json: T) {
  return {
    description: 'The graph in the requested format.',
    content: {
      'application/json': { schema: json },
      'text/vnd.graphviz': { schema: z.string() },
      'text/vnd.mermaid': { schema: z.string() },
      'image/svg+xml': { schema: z.string() },
    },
  };
}

interface TimeAsked {
  readonly as_of?: string | undefined;
  readonly ended?: boolean | 'true' | 'false';
}

/** The graph that a request is about; null: the owner has none yet. */
async function graphAsked(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  request: FastifyRequest,
  asked: ScopeIds & TimeAsked,
): Promise<GraphAsked | null> {
  const tenant = requestTenant(request) as TenantId;
  const owner = ownerAsked(asked);
  const lane = await ledger.lanes.find(tenant, owner);
  return lane === null ? null : { tenant, owner, lane: lane.id, at: timeAsked(asked) };
}

const ownerAsked = (ids: ScopeIds): Owner => ownerOf(scopeOf(ids));

/** null: what is true now. */
function timeAsked({ as_of, ended = false }: TimeAsked): GraphAsked['at'] {
  if (as_of !== undefined) return millisOf(as_of);
  return String(ended) === 'true' ? 'ever' : null;
}

type Graph = Pick<Ledger, 'graph'>;

/** An entity that the key may see and that is not undone. */
async function existingEntity({ graph }: Graph, request: FastifyRequest, id: string): Promise<Entity> {
  const [entity] = await graph.entities(requestTenant(request) as TenantId, [id]);
  if (entity === undefined || !entity.counts || !mayKnowOf(request, entity.owner)) throw notFound('entity', id);
  return entity;
}

async function existingRelation({ graph }: Graph, request: FastifyRequest, id: string): Promise<KeptRelation> {
  const relation = await graph.relation(requestTenant(request) as TenantId, id);
  if (relation === null || !mayKnowOf(request, relation.owner)) throw notFound('relation', id);
  return relation;
}

const mayKnowOf = (request: FastifyRequest, { kind, id }: Owner): boolean =>
  mayKnow(request, { userId: kind === 'user' ? id : null, appId: null });

type What = Parameters<typeof queryGraph>[1]['what'];

function whatOf({ match = [], path }: PostGraphQuery): What {
  if (path === undefined) return { kind: 'match', patterns: match.map(patternOf) };
  return { kind: 'path', from: knownOf(path.from), to: knownOf(path.to), maxHops: path.max_hops };
}

type Pattern = NonNullable<PostGraphQuery['match']>[number];

const patternOf = ({ source, relationship, destination }: Pattern): PatternAsked => ({
  source: termOf(source),
  relationship: relationship ?? null,
  destination: termOf(destination),
});

function termOf(term: Pattern['source']): TermAsked {
  if (term === undefined) return null;
  return typeof term === 'string' ? { kind: 'variable', name: term.slice(1) } : knownOf(term);
}

function knownOf({ id, name }: KnownBody): KnownEntity {
  if (id !== undefined) return { kind: 'id', id };
  return name === undefined ? { kind: 'self' } : { kind: 'name', name };
}

const matchView = ({ entities, relations }: GraphMatch) => ({
  entities: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, entityView(entity)])),
  relations: relations.map(relationView),
});

/** The statements about its destination and its source, including entities merged into the source. */
async function saidOf({ graph }: Ledger, { tenant, lane, source, relationship, destination }: KeptRelation) {
  const about = (await graph.statements(lane, { entities: [destination] })).filter(
    ({ statement }) => 'relationship' in statement && statement.relationship === relationship,
  );
  const sources = [...new Set(about.map(({ statement }) => statement.source))];
  const own = (await graph.entities(tenant, sources)).filter(({ id, mergedInto }) => (mergedInto ?? id) === source);
  const ids = new Set(own.map(({ id }) => id));
  return about.filter(({ statement }) => ids.has(statement.source));
}

/** The most statements in one response. */
const NEWEST_MAX = 1_000;

const newestOf = (said: Awaited<ReturnType<Ledger['graph']['statements']>>) => ({
  results: said.slice(-NEWEST_MAX).map(({ statement, counts }) => statementView(statement, counts)),
  next_cursor: null,
});
