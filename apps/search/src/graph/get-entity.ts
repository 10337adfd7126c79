import { EntityNeighbourhood, GetEntityQuery } from '@slowwave/contracts';
import { entityView, neighbourhoodOf } from '@slowwave/engine';
import { type App, IdParams } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { drawingOf, graphView, limitOf } from './drawn.ts';
import { existingEntity } from './existing.ts';
import { inFormats } from './formats.ts';
import { timeAsked } from './whose.ts';

const schema = {
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

export function getEntity(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/entities/:id', { schema, config: { bounds: { by: 'found', apps: false } } }, async (request, reply) => {
    const { depth, format, limit } = request.query;
    const entity = await existingEntity(ledger, request, request.params.id);
    const standing = entity.mergedInto === null ? entity : await existingEntity(ledger, request, entity.mergedInto);
    const asked = { ...standing, at: timeAsked(request.query) };
    const around = { entity: standing, depth, limit: limitOf(format, limit) };
    const shown = await neighbourhoodOf(ledger.graph, asked, around);
    if (format === 'json') return { entity: entityView(entity), ...graphView(shown) };
    const { type, text } = drawingOf(format, shown);
    return reply
      .type(type)
      .serializer((drawn: unknown) => String(drawn))
      .send(text as never);
  });
}
