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
import { type FastifyReply, given, IdParams, momentOf, notFound, problem } from '@slowwave/http';
import { routesOf } from './deps.ts';
import { textKept } from './memories.ts';
import { refusePaused } from './subjects.ts';

const route = routesOf('graph');

/** Explicit changes of a graph. */
export const graphRoutes = [
  route('POST /v1/relations', {
    id: 'postRelation',
    summary: 'Write a relation',
    description:
      'No model is used. The relationship is normalised to its general form, and missing entities are created. A ' +
      'relation that already exists is confirmed. 201: stored and searchable. 202: stored, searchable once the ' +
      'index is available again.',
    body: PostRelation,
    answer: { 201: RelationView, 202: RelationView },
    bounds: { by: 'body', apps: false },
    handle: async (deps, { tenant, body, reply }) => {
      const { ledger, graphWriter } = deps;
      await refusePaused(deps, tenant, scopeOf(body));
      const kept = await wordsKept(ledger, tenant, body);
      const relation = changed(await graphWriter.relate(tenant, ownerOf(scopeOf(kept)), relationOf(kept)), reply);
      reply.header('location', `/v1/relations/${relation.id}`);
      return relationView(relation);
    },
  }),
  route('PATCH /v1/relations/:id', {
    id: 'patchRelation',
    summary: 'Change or end a relation',
    description:
      'With invalid_at alone, the relation ends at that time. With any other field, the relation is denied and ' +
      'restated under a new id; which relations it ends is then decided again.',
    params: IdParams,
    body: PatchRelation,
    answer: { 200: ChangedRelation, 202: ChangedRelation },
    handle: async ({ ledger, graphWriter }, { tenant, params, body, reply }) => {
      const patch = patchOf(await wordsKept(ledger, tenant, body));
      const { relation, replaces } = changed(await graphWriter.change(tenant, params.id, patch), reply);
      return { ...relationView(relation), replaces };
    },
  }),
  route('DELETE /v1/relations/:id', {
    id: 'deleteRelation',
    summary: 'Deny a relation',
    description:
      'States that the relation is not true and never was. Earlier statements no longer show it, and relations that ' +
      'it ended are valid again. Its history is kept. To end a relation instead, PATCH it with invalid_at.',
    params: IdParams,
    answer: { 200: DeletedView, 202: DeletedView },
    handle: async ({ graphWriter }, { tenant, params, reply }) => {
      changed(await graphWriter.remove(tenant, params.id), reply);
      return { deleted: 1 };
    },
  }),
  route('POST /v1/entities/:id/merge', {
    id: 'mergeEntity',
    summary: 'Merge an entity into another',
    description: 'The other entity is kept and gets the relations and names of both. POST …/split undoes it.',
    params: IdParams,
    body: PostMerge,
    answer: { 200: EntityView, 202: EntityView },
    handle: async ({ ledger, graphWriter }, { tenant, params, body, reply }) => {
      const { into, reason = 'merged by API' } = body;
      const how = { into, reason: await textKept(ledger, tenant, reason) };
      return entityView(changed(await graphWriter.merge(tenant, params.id, how), reply));
    },
  }),
  route('POST /v1/entities/:id/split', {
    id: 'splitEntity',
    summary: 'Split an entity from the one it was merged into',
    description:
      'States that the entity is not the same as any other, regardless of earlier statements. It is no ' +
      'longer proposed for merging.',
    params: IdParams,
    body: PostSplit,
    answer: { 200: EntityView, 202: EntityView },
    handle: async ({ graphWriter }, { tenant, params, reply }) => {
      return entityView(changed(await graphWriter.split(tenant, params.id), reply));
    },
  }),
  route('PATCH /v1/entities/:id', {
    id: 'patchEntity',
    summary: 'Add an alias to an entity',
    description: 'From now on every mention of that name refers to this entity. The original name stays.',
    params: IdParams,
    body: PatchEntity,
    answer: { 200: EntityView, 202: EntityView },
    handle: async ({ ledger, graphWriter }, { tenant, params, body, reply }) => {
      const alias = await textKept(ledger, tenant, body.alias);
      return entityView(changed(await graphWriter.call(tenant, params.id, alias), reply));
    },
  }),
];

const relationOf = (body: PostRelation): NewRelation => ({
  source: givenOf(body.source),
  relationship: body.relationship,
  destination: givenOf(body.destination),
  validFrom: body.valid_from === undefined ? null : millisOf(body.valid_from),
  until: body.invalid_at === undefined ? null : millisOf(body.invalid_at),
  single: body.single ?? null,
  quote: body.quote ?? null,
});

const patchOf = (body: PatchRelation): RelationPatch =>
  given({
    source: body.source && givenOf(body.source),
    relationship: body.relationship,
    destination: body.destination && givenOf(body.destination),
    validFrom: momentOf(body.valid_from),
    invalidAt: body.invalid_at === null ? null : momentOf(body.invalid_at),
    reason: body.reason,
  });

/** The result of an explicit change, or its refusal as a problem. 202: stored, searchable once the index is back. */
function changed<T>(result: GraphWritten<T>, reply: FastifyReply): T {
  switch (result.kind) {
    case 'written':
      if (!result.searchable) reply.code(202);
      return result.value;
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

/** The body with its texts masked as the tenant's policy for personal data demands; throws if the policy refuses them. */
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
