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
  type TenantId,
} from '@slowwave/engine';
import { type App, type FastifyReply, IdParams, listed, pageOf, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { SearchDeps } from '../deps.ts';
import { existingEntity, graphAsked, ownerAsked, timeAsked } from './asked.ts';
import { dotOf, mermaidOf } from './draw/picture.ts';
import { svgOf } from './draw/svg.ts';
import { postGraphQuery } from './query.ts';
import { getEntityHistory, getRelation, getRelationHistory, listRelations } from './relations.ts';

/** What is asked of the graph. */
export function graphRoutes(app: App, deps: SearchDeps): void {
  getGraph(app, deps);
  postGraphQuery(app, deps);
  listProposals(app, deps);
  listEntities(app, deps);
  getEntity(app, deps);
  getEntityHistory(app, deps);
  listRelations(app, deps);
  getRelation(app, deps);
  getRelationHistory(app, deps);
}

const getGraphSchema = {
  operationId: 'getGraph',
  tags: ['graph'],
  summary: "Get an owner's graph as JSON, Graphviz, Mermaid or SVG",
  description:
    'Returns the entities and current relations, oldest first. With as_of, the relations that were true at that ' +
    'time; with ended=true, also relations that have ended (dashed in drawings).',
  querystring: GetGraphQuery,
  response: { 200: inFormats(GraphView) },
};

const NOTHING: Shown = { entities: [], relations: [], truncated: false };
const PAGE_MAX = 200;

function getGraph(app: App, deps: SearchDeps): void {
  app.get(
    '/v1/graph',
    { schema: getGraphSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request, reply) => {
      const { format, limit } = request.query;
      const asked = await graphAsked(deps, request, request.query);
      const shown = asked === null ? NOTHING : await shownOf(deps.ledger, asked, limitOf(format, limit));
      if (format === 'json') return graphView(shown);
      return sendDrawing(reply, drawingOf(format, shown));
    },
  );
}

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

const getEntitySchema = {
  operationId: 'getEntity',
  tags: ['graph'],
  summary: 'Get an entity and its neighbourhood',
  description:
    'The most confirmed and newest relations come first. For an entity that was merged into another, the ' +
    'neighbourhood of the other one is returned.',
  params: IdParams,
  querystring: GetEntityQuery,
  response: { 200: inFormats(EntityNeighbourhood) },
};

function getEntity(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/entities/:id',
    { schema: getEntitySchema, config: { bounds: { by: 'found', apps: false } } },
    async (request, reply) => {
      const { depth, format, limit } = request.query;
      const entity = await existingEntity(ledger, request, request.params.id);
      const standing = entity.mergedInto === null ? entity : await existingEntity(ledger, request, entity.mergedInto);
      const asked = { ...standing, at: timeAsked(request.query) };
      const around = { entity: standing, depth, limit: limitOf(format, limit) };
      const shown = await neighbourhoodOf(ledger.graph, asked, around);
      if (format === 'json') return { entity: entityView(entity), ...graphView(shown) };
      return sendDrawing(reply, drawingOf(format, shown));
    },
  );
}

const listEntitiesSchema = {
  operationId: 'listEntities',
  tags: ['graph'],
  summary: "List the entities of an owner's graph, by name",
  querystring: ListEntitiesQuery,
  response: { 200: EntityList },
};

function listEntities(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/entities',
    { schema: listEntitiesSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request) => {
      const { like } = request.query;
      const tenant = requestTenant(request) as TenantId;
      const filter = like === undefined ? {} : { like: normaliseText(like) };
      const entities = await ledger.graph.listEntities(
        tenant,
        ownerAsked(request.query),
        filter,
        pageOf(request.query),
      );
      return listed(entities, entityView);
    },
  );
}

const listProposalsSchema = {
  operationId: 'listProposals',
  tags: ['graph'],
  summary: 'List entities that may be the same, for a person to decide',
  description: 'Use POST /v1/entities/{id}/merge if they are the same, POST /v1/entities/{id}/split if they are not.',
  querystring: ListProposalsQuery,
  response: { 200: ProposalList },
};

function listProposals(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/graph/proposals',
    { schema: listProposalsSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request) => {
      const tenant = requestTenant(request) as TenantId;
      const found = await ledger.graph.proposals(tenant, ownerAsked(request.query));
      const results = found.map(({ source, destination, likeness }) => ({
        source: entityView(source),
        destination: entityView(destination),
        likeness,
      }));
      return { results, next_cursor: null };
    },
  );
}

type Format = 'json' | 'dot' | 'mermaid' | 'svg';

/** Part of a graph, as it was read. */
interface Shown {
  readonly entities: readonly Entity[];
  readonly relations: readonly KeptRelation[];
  readonly truncated: boolean;
}

/** A text in the place of JSON. */
interface Drawing {
  readonly type: string;
  readonly text: string;
}

/** The most that is read for a format: a drawing of more would show nothing. */
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

/** What a route answers that draws as well. */
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
