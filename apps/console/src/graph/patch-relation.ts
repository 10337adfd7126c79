import { ChangedRelation, PatchRelation } from '@slowwave/contracts';
import { millisOf, type RelationPatch, relationView, type TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { changed, givenOf } from './answered.ts';
import { wordsKept } from './words-kept.ts';

const schema = {
  operationId: 'patchRelation',
  tags: ['graph'],
  summary: 'Change or end a relation',
  description:
    'With invalid_at alone, the relation ends at that time. With any other field, the relation is denied and ' +
    'restated under a new id; which relations it ends is then decided again.',
  params: IdParams,
  body: PatchRelation,
  response: { 200: ChangedRelation, 202: ChangedRelation },
};

export function patchRelation(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.patch('/v1/relations/:id', { schema }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const body = await wordsKept(ledger, tenant, request.body);
    const { value, code } = changed(await graphWriter.change(tenant, request.params.id, patchOf(body)));
    return reply.code(code).send({ ...relationView(value.relation), replaces: value.replaces });
  });
}

const patchOf = (body: PatchRelation): RelationPatch => ({
  ...(body.source !== undefined && { source: givenOf(body.source) }),
  ...(body.relationship !== undefined && { relationship: body.relationship }),
  ...(body.destination !== undefined && { destination: givenOf(body.destination) }),
  ...(body.valid_from !== undefined && { validFrom: millisOf(body.valid_from) ?? 0 }),
  ...(body.invalid_at !== undefined && { invalidAt: body.invalid_at === null ? null : millisOf(body.invalid_at) }),
  ...(body.reason !== undefined && { reason: body.reason }),
});
