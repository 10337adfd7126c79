import { PostRelation, RelationView } from '@slowwave/contracts';
import { millisOf, type NewRelation, ownerOf, relationView, scopeOf, type TenantId } from '@slowwave/engine';
import { type App, type Bounds, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { changed, givenOf } from './answered.ts';
import { wordsKept } from './words-kept.ts';

const schema = {
  operationId: 'postRelation',
  tags: ['graph'],
  summary: 'Write a relation',
  description:
    'No model is used. The relationship is normalised to its general form, and missing entities are created. A ' +
    'relation that already exists is confirmed. 201: stored and searchable. 202: stored, searchable once the ' +
    'index is available again.',
  body: PostRelation,
  response: { 201: RelationView, 202: RelationView },
};

const bounds: Bounds = { by: 'body', apps: false };

export function postRelation(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.post('/v1/relations', { schema, config: { bounds } }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const body = await wordsKept(ledger, tenant, request.body);
    const { value, code } = changed(await graphWriter.relate(tenant, ownerOf(scopeOf(body)), relationOf(body)));
    return reply
      .code(code === 200 ? 201 : 202)
      .header('location', `/v1/relations/${value.id}`)
      .send(relationView(value));
  });
}

const relationOf = (body: PostRelation): NewRelation => ({
  source: givenOf(body.source),
  relationship: body.relationship,
  destination: givenOf(body.destination),
  validFrom: body.valid_from === undefined ? null : millisOf(body.valid_from),
  until: body.invalid_at === undefined ? null : millisOf(body.invalid_at),
  single: body.single ?? null,
  quote: body.quote ?? null,
});
