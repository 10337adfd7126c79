import { GetGraphQuery, GraphView } from '@slowwave/contracts';
import { endsOfRelations, type GraphAsked, type KeptRelation, type Ledger } from '@slowwave/engine';
import type { App } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { drawingOf, graphView, limitOf, type Shown } from './drawn.ts';
import { inFormats } from './formats.ts';
import { graphAsked } from './whose.ts';

const schema = {
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

export function getGraph(app: App, deps: SearchDeps): void {
  app.get('/v1/graph', { schema, config: { bounds: { by: 'query', apps: false } } }, async (request, reply) => {
    const { format, limit } = request.query;
    const asked = await graphAsked(deps, request, request.query);
    const shown = asked === null ? NOTHING : await shownOf(deps.ledger, asked, limitOf(format, limit));
    if (format === 'json') return graphView(shown);
    const { type, text } = drawingOf(format, shown);
    return reply
      .type(type)
      .serializer((drawn: unknown) => String(drawn))
      .send(text as never);
  });
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
