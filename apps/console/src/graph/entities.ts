import { EntityView, PatchEntity, PostMerge, PostSplit } from '@slowwave/contracts';
import { entityView, type TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { textKept } from '../text-kept.ts';
import { changed } from './answered.ts';

const response = { 200: EntityView, 202: EntityView };

const merge = {
  operationId: 'mergeEntity',
  tags: ['graph'],
  summary: 'Merge an entity into another',
  description: 'The other entity is kept and gets the relations and names of both. POST …/split undoes it.',
  params: IdParams,
  body: PostMerge,
  response,
};

export function postMerge(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.post('/v1/entities/:id/merge', { schema: merge }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const { into, reason = 'merged by API' } = request.body;
    const how = { into, reason: await textKept(ledger, tenant, reason) };
    const { value, code } = changed(await graphWriter.merge(tenant, request.params.id, how));
    return reply.code(code).send(entityView(value));
  });
}

const split = {
  operationId: 'splitEntity',
  tags: ['graph'],
  summary: 'Split an entity from the one it was merged into',
  description:
    'States that the entity is not the same as any other, regardless of earlier statements. It is no ' +
    'longer proposed for merging.',
  params: IdParams,
  body: PostSplit,
  response,
};

export function postSplit(app: App, { graphWriter }: ConsoleDeps): void {
  app.post('/v1/entities/:id/split', { schema: split }, async (request, reply) => {
    const result = await graphWriter.split(requestTenant(request) as TenantId, request.params.id);
    const { value, code } = changed(result);
    return reply.code(code).send(entityView(value));
  });
}

const patch = {
  operationId: 'patchEntity',
  tags: ['graph'],
  summary: 'Add an alias to an entity',
  description: 'From now on every mention of that name refers to this entity. The original name stays.',
  params: IdParams,
  body: PatchEntity,
  response,
};

export function patchEntity(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.patch('/v1/entities/:id', { schema: patch }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const alias = await textKept(ledger, tenant, request.body.alias);
    const { value, code } = changed(await graphWriter.call(tenant, request.params.id, alias));
    return reply.code(code).send(entityView(value));
  });
}
