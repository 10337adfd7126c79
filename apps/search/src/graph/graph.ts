import {
  DRAWN_RELATIONS_MAX,
  EntityList,
  EntityNeighbourhood,
  GetEntityQuery,
  GetGraphQuery,
  GraphView,
  ListEntitiesQuery,
  ListProposalsQuery,
  ProposalList,
} from '@slowwave/contracts';
import {
  type Entity,
  endsOfRelations,
  entityView,
  type GraphAsked,
  type KeptRelation,
  type Ledger,
  neighbourhoodOf,
  normaliseText,
  relationView,
} from '@slowwave/engine';
import { type FastifyReply, given, IdParams, listed, pageOf } from '@slowwave/http';
import { z } from 'zod';
import { routesOf } from '../deps.ts';
import { existingEntity, graphAsked, ownerAsked, timeAsked } from './asked.ts';
import { dotOf, mermaidOf } from './draw/picture.ts';
import { svgOf } from './draw/svg.ts';
import { postGraphQuery } from './query.ts';
import { getEntityHistory, getRelation, getRelationHistory, listRelations } from './relations.ts';

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
  postGraphQuery,
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
  getEntityHistory,
  listRelations,
  getRelation,
  getRelationHistory,
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
