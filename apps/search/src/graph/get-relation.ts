import { RelationView, StatementList } from '@slowwave/contracts';
import { type KeptRelation, type Ledger, relationView, statementView } from '@slowwave/engine';
import { type App, IdParams, problem } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { existingEntity, existingRelation } from './existing.ts';

const one = {
  operationId: 'getRelation',
  tags: ['graph'],
  summary: 'One relation',
  params: IdParams,
  response: { 200: RelationView },
};

export function getRelation(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/relations/:id', { schema: one, config: { bounds: { by: 'found', apps: false } } }, async (request) => {
    const { id } = request.params;
    const relation = await existingRelation(ledger, request, id);
    if (relation.counts) return relationView(relation);
    throw problem(
      'not_found',
      `relation ${id} is no longer valid: it was undone or denied; see /v1/relations/${id}/history`,
    );
  });
}

const ofRelation = {
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
    { schema: ofRelation, config: { bounds: { by: 'found', apps: false } } },
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

const ofEntity = {
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
    { schema: ofEntity, config: { bounds: { by: 'found', apps: false } } },
    async (request) => {
      const { id, lane } = await existingEntity(ledger, request, request.params.id);
      const said = await ledger.graph.statements(lane, { entities: [id] });
      return newestOf(said);
    },
  );
}
