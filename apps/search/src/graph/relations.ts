import { ListRelationsQuery, RelationList, RelationView, StatementList } from '@slowwave/contracts';
import { type KeptRelation, type Ledger, relationView, statementView, type TenantId } from '@slowwave/engine';
import { type App, IdParams, listed, pageOf, problem, requestTenant } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { existingEntity, existingRelation, ownerAsked, timeAsked } from './asked.ts';

const listRelationsSchema = {
  operationId: 'listRelations',
  tags: ['graph'],
  summary: "List the relations of an owner's graph, oldest first",
  querystring: ListRelationsQuery,
  response: { 200: RelationList },
};

export function listRelations(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/relations',
    { schema: listRelationsSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request) => {
      const { relationship } = request.query;
      const tenant = requestTenant(request) as TenantId;
      const filter = { at: timeAsked(request.query), ...(relationship !== undefined && { relationship }) };
      const page = pageOf(request.query);
      return listed(await ledger.graph.listRelations(tenant, ownerAsked(request.query), filter, page), relationView);
    },
  );
}

const getRelationSchema = {
  operationId: 'getRelation',
  tags: ['graph'],
  summary: 'Get a relation',
  params: IdParams,
  response: { 200: RelationView },
};

export function getRelation(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/relations/:id',
    { schema: getRelationSchema, config: { bounds: { by: 'found', apps: false } } },
    async (request) => {
      const { id } = request.params;
      const relation = await existingRelation(ledger, request, id);
      if (relation.counts) return relationView(relation);
      throw problem(
        'not_found',
        `relation ${id} is no longer valid: it was undone or denied; see /v1/relations/${id}/history`,
      );
    },
  );
}

const relationHistorySchema = {
  operationId: 'getRelationHistory',
  tags: ['graph'],
  summary: 'Get the history of a relation',
  description:
    'Returns the newest 1,000 statements about its source, relationship and destination in the order they were ' +
    'said, including undone ones.',
  params: IdParams,
  response: { 200: StatementList },
};

export function getRelationHistory(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/relations/:id/history',
    { schema: relationHistorySchema, config: { bounds: { by: 'found', apps: false } } },
    async (request) => {
      const relation = await existingRelation(ledger, request, request.params.id);
      return newestOf(await saidOf(ledger, relation));
    },
  );
}

/** Of all that names its destination what is said of its source, also by a name that was merged into it. */
async function saidOf({ graph }: Ledger, { tenant, lane, source, relationship, destination }: KeptRelation) {
  const about = (await graph.statements(lane, { entities: [destination] })).filter(
    ({ statement }) => 'relationship' in statement && statement.relationship === relationship,
  );
  const sources = [...new Set(about.map(({ statement }) => statement.source))];
  const own = (await graph.entities(tenant, sources)).filter(({ id, mergedInto }) => (mergedInto ?? id) === source);
  const ids = new Set(own.map(({ id }) => id));
  return about.filter(({ statement }) => ids.has(statement.source));
}

/** Statements of one answer, at most. */
const NEWEST_MAX = 1_000;

const newestOf = (said: Awaited<ReturnType<Ledger['graph']['statements']>>) => ({
  results: said.slice(-NEWEST_MAX).map(({ statement, counts }) => statementView(statement, counts)),
  next_cursor: null,
});

const entityHistorySchema = {
  operationId: 'getEntityHistory',
  tags: ['graph'],
  summary: 'Get the history of an entity',
  description: 'Returns the newest 1,000 statements that name it in the order they were said, including undone ones.',
  params: IdParams,
  response: { 200: StatementList },
};

export function getEntityHistory(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/entities/:id/history',
    { schema: entityHistorySchema, config: { bounds: { by: 'found', apps: false } } },
    async (request) => {
      const { id, lane } = await existingEntity(ledger, request, request.params.id);
      const said = await ledger.graph.statements(lane, { entities: [id] });
      return newestOf(said);
    },
  );
}
