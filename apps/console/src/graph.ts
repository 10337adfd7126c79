import {
  ChangedRelation,
  DeletedView,
  type EntityGiven,
  EntityView,
  PatchEntity,
  PatchRelation,
  PostMerge,
  PostRelation,
  PostSplit,
  RelationView,
} from '@slowwave/contracts';
import {
  entityView,
  type GraphWritten,
  type Ledger,
  millisOf,
  type EntityGiven as NamedEntity,
  type NewRelation,
  ownerOf,
  type RelationPatch,
  relationView,
  scopeOf,
  type TenantId,
} from '@slowwave/engine';
import { type App, IdParams, notFound, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { textKept } from './memories.ts';

/** Explicit changes of a graph. */
export function graphRoutes(app: App, deps: ConsoleDeps): void {
  postRelation(app, deps);
  patchRelation(app, deps);
  deleteRelation(app, deps);
  postMerge(app, deps);
  postSplit(app, deps);
  patchEntity(app, deps);
}

const postRelationSchema = {
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

function postRelation(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.post(
    '/v1/relations',
    { schema: postRelationSchema, config: { bounds: { by: 'body', apps: false } } },
    async (request, reply) => {
      const tenant = requestTenant(request) as TenantId;
      const body = await wordsKept(ledger, tenant, request.body);
      const { value, code } = changed(await graphWriter.relate(tenant, ownerOf(scopeOf(body)), relationOf(body)));
      return reply
        .code(code === 200 ? 201 : 202)
        .header('location', `/v1/relations/${value.id}`)
        .send(relationView(value));
    },
  );
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

const patchRelationSchema = {
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

function patchRelation(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.patch('/v1/relations/:id', { schema: patchRelationSchema }, async (request, reply) => {
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

const deleteRelationSchema = {
  operationId: 'deleteRelation',
  tags: ['graph'],
  summary: 'Deny a relation',
  description:
    'States that the relation is not true and never was. Earlier statements no longer show it, and relations that ' +
    'it ended are valid again. Its history is kept. To end a relation instead, PATCH it with invalid_at.',
  params: IdParams,
  response: { 200: DeletedView, 202: DeletedView },
};

function deleteRelation(app: App, { graphWriter }: ConsoleDeps): void {
  app.delete('/v1/relations/:id', { schema: deleteRelationSchema }, async (request, reply) => {
    const { code } = changed(await graphWriter.remove(requestTenant(request) as TenantId, request.params.id));
    return reply.code(code).send({ deleted: 1 });
  });
}

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

function postMerge(app: App, { ledger, graphWriter }: ConsoleDeps): void {
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

function postSplit(app: App, { graphWriter }: ConsoleDeps): void {
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

function patchEntity(app: App, { ledger, graphWriter }: ConsoleDeps): void {
  app.patch('/v1/entities/:id', { schema: patch }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const alias = await textKept(ledger, tenant, request.body.alias);
    const { value, code } = changed(await graphWriter.call(tenant, request.params.id, alias));
    return reply.code(code).send(entityView(value));
  });
}

/** What an explicit change came to, or its refusal as a problem. 202: stored, found once the index is back. */
function changed<T>(result: GraphWritten<T>): { readonly value: T; readonly code: 200 | 202 } {
  switch (result.kind) {
    case 'written':
      return { value: result.value, code: result.searchable ? 200 : 202 };
    case 'not_found':
      throw notFound(result.what, result.id);
    case 'ambiguous':
      throw problem(
        'conflict',
        `several entities are called ${JSON.stringify(result.name)}: ${result.ids.join(', ')}; use the id of one of ` +
          'them',
      );
    case 'refused':
      throw problem('invalid_request', result.why);
    case 'conflict':
      throw problem(
        'conflict',
        'the graph was changed by another request, or its owner was erased; read it again and retry',
      );
  }
}

/** An entity as a body names it. */
function givenOf({ id, name, kind }: EntityGiven): NamedEntity {
  if (id !== undefined) return { kind: 'id', id };
  return name === undefined ? { kind: 'self' } : { kind: 'name', name, of: kind ?? null };
}

interface Worded {
  readonly source?: EntityGiven | undefined;
  readonly destination?: EntityGiven | undefined;
  readonly quote?: string | undefined;
}

/** The same body with its texts as the tenant's policy for personal data lets them be stored; refused where it does not. */
async function wordsKept<T extends Worded>(ledger: Pick<Ledger, 'settings'>, tenant: TenantId, body: T): Promise<T> {
  const entityKept = async (given: EntityGiven): Promise<EntityGiven> =>
    given.name !== undefined ? { ...given, name: await textKept(ledger, tenant, given.name) } : given;
  return {
    ...body,
    ...(body.source !== undefined && { source: await entityKept(body.source) }),
    ...(body.destination !== undefined && { destination: await entityKept(body.destination) }),
    ...(body.quote !== undefined && { quote: await textKept(ledger, tenant, body.quote) }),
  };
}
