import type { PatchEntity, PatchRelation, PostGraphQuery, PostMerge, PostRelation } from '../api.ts';
import type { CallOptions } from '../options.ts';
import { everyPage } from '../pages.ts';
import type { Given, Send } from '../send.ts';

type GraphQuery = Omit<NonNullable<Given<'GET /v1/graph'>['query']>, 'format'>;
type EntityQuery = Omit<NonNullable<Given<'GET /v1/entities/{id}'>['query']>, 'format'>;
type ListEntities = NonNullable<Given<'GET /v1/entities'>['query']>;
type ListRelations = NonNullable<Given<'GET /v1/relations'>['query']>;
type Owner = NonNullable<Given<'GET /v1/graph/proposals'>['query']>;

export const graphOf = (send: Send) => ({
  /** The entities and relations of an owner. */
  get: (query: GraphQuery, options?: CallOptions) => send('GET /v1/graph', { query }, options),
  /** Relations that match patterns, or paths between two entities. */
  query: (body: PostGraphQuery, options?: CallOptions) =>
    send('POST /v1/graph/query', { body, readsOnly: true }, options),
  /** Entities that may be the same. */
  proposals: (query: Owner, options?: CallOptions) => send('GET /v1/graph/proposals', { query }, options),
  /** An entity and its neighbourhood. */
  entity: (id: string, query: EntityQuery = {}, options?: CallOptions) =>
    send('GET /v1/entities/{id}', { params: { id }, query }, options),
  eachEntity: (query: Omit<ListEntities, 'cursor'>, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/entities', { query: { ...query, cursor } }, options)),
  eachRelation: (query: Omit<ListRelations, 'cursor'>, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/relations', { query: { ...query, cursor } }, options)),
  relation: (id: string, options?: CallOptions) => send('GET /v1/relations/{id}', { params: { id } }, options),
  /** All statements about a relation. */
  relationHistory: (id: string, options?: CallOptions) =>
    send('GET /v1/relations/{id}/history', { params: { id } }, options),
  /** All statements about an entity. */
  entityHistory: (id: string, options?: CallOptions) =>
    send('GET /v1/entities/{id}/history', { params: { id } }, options),
  /** Writes a relation, without a model. */
  relate: (body: PostRelation, options?: CallOptions) => send('POST /v1/relations', { body }, options),
  update: (id: string, body: PatchRelation, options?: CallOptions) =>
    send('PATCH /v1/relations/{id}', { params: { id }, body }, options),
  /** Denies a relation: it never was. */
  delete: (id: string, options?: CallOptions) => send('DELETE /v1/relations/{id}', { params: { id } }, options),
  merge: (id: string, body: PostMerge, options?: CallOptions) =>
    send('POST /v1/entities/{id}/merge', { params: { id }, body }, options),
  split: (id: string, options?: CallOptions) =>
    send('POST /v1/entities/{id}/split', { params: { id }, body: {} }, options),
  /** Adds an alias to an entity. */
  call: (id: string, body: PatchEntity, options?: CallOptions) =>
    send('PATCH /v1/entities/{id}', { params: { id }, body }, options),
});
