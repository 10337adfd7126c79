import { ListRelationsQuery, RelationList, RelationView, StatementList } from '@slowwave/contracts';
import { type KeptRelation, type Ledger, relationView, statementView } from '@slowwave/engine';
import { given, IdParams, listed, pageOf, problem } from '@slowwave/http';
import { routesOf } from '../deps.ts';
import { existingEntity, existingRelation, ownerAsked, timeAsked } from './asked.ts';

const route = routesOf('graph');

export const listRelations = route('GET /v1/relations', {
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
});

export const getRelation = route('GET /v1/relations/:id', {
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
});

export const getRelationHistory = route('GET /v1/relations/:id/history', {
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
});

export const getEntityHistory = route('GET /v1/entities/:id/history', {
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
