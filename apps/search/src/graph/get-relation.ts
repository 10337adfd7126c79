import { RelationView, StatementList } from '@slowwave/contracts';
import { relationView, statementView } from '@slowwave/engine';
import { type App, type Bounds, IdParams, problem } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { existingEntity, existingRelation } from './existing.ts';

const bounds: Bounds = { by: 'found', apps: false };

const one = {
  operationId: 'getRelation',
  tags: ['graph'],
  summary: 'One relation',
  params: IdParams,
  response: { 200: RelationView },
};

export function getRelation(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/relations/:id', { schema: one, config: { bounds } }, async (request) => {
    const { id } = request.params;
    const relation = await existingRelation(ledger, request, id);
    if (relation.counts) return relationView(relation);
    throw problem(
      'not_found',
      `relation ${id} holds no more: it was undone or denied; see /v1/relations/${id}/history`,
    );
  });
}

const ofRelation = {
  operationId: 'getRelationHistory',
  tags: ['graph'],
  summary: 'What was said of a relation',
  description:
    'Every statement about its source, relationship and destination in the order they were said, undone ones too.',
  params: IdParams,
  response: { 200: StatementList },
};

export function getRelationHistory(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/relations/:id/history', { schema: ofRelation, config: { bounds } }, async (request) => {
    const { source, relationship, destination, lane } = await existingRelation(ledger, request, request.params.id);
    const [from, to] = await Promise.all(
      [source, destination].map((id) => ledger.graph.statements(lane, { entities: [id] })),
    );
    const about = new Set((to ?? []).map(({ statement }) => statement.id));
    const said = (from ?? []).filter(
      ({ statement }) =>
        about.has(statement.id) && 'relationship' in statement && statement.relationship === relationship,
    );
    return { results: said.map(({ statement, counts }) => statementView(statement, counts)), next_cursor: null };
  });
}

const ofEntity = {
  operationId: 'getEntityHistory',
  tags: ['graph'],
  summary: 'What was said of an entity',
  description: 'Every statement that names it in the order they were said, undone ones too.',
  params: IdParams,
  response: { 200: StatementList },
};

export function getEntityHistory(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/entities/:id/history', { schema: ofEntity, config: { bounds } }, async (request) => {
    const { id, lane } = await existingEntity(ledger, request, request.params.id);
    const said = await ledger.graph.statements(lane, { entities: [id] });
    return { results: said.map(({ statement, counts }) => statementView(statement, counts)), next_cursor: null };
  });
}
