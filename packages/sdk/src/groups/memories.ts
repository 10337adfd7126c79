import type {
  ExportLine,
  PatchEntity,
  PatchMemory,
  PatchRelation,
  PostContext,
  PostFeedback,
  PostGraphQuery,
  PostLink,
  PostMemory,
  PostMerge,
  PostOutcome,
  PostRecall,
  PostRelation,
  PostRollback,
  PostSearch,
  PutProfileLine,
} from '../api.ts';
import { type CallOptions, everyLine, everyPage, type Given, open, type Send, type Settings } from '../send.ts';

type ListQuery = NonNullable<Given<'GET /v1/memories'>['query']>;
type DeleteQuery = NonNullable<Given<'DELETE /v1/memories'>['query']>;
type DeleteOneQuery = NonNullable<Given<'DELETE /v1/memories/{id}'>['query']>;
type UnderQuery = NonNullable<Given<'GET /v1/ids/memories'>['query']>;
type WithdrawQuery = NonNullable<Given<'DELETE /v1/ids/memories'>['query']>;
type UsersQuery = NonNullable<Given<'GET /v1/users'>['query']>;
type SourcesQuery = NonNullable<Given<'GET /v1/memories/{id}/sources'>['query']>;
type NearQuery = Omit<NonNullable<Given<'GET /v1/messages'>['query']>, 'around'>;

export const memoriesOf = (send: Send) => ({
  search: (body: PostSearch, options?: CallOptions) => send('POST /v1/search', { body, readsOnly: true }, options),
  /** What is known about an owner, as a block for a prompt. */
  context: (body: PostContext, options?: CallOptions) => send('POST /v1/context', { body, readsOnly: true }, options),
  /** Answers a question from memories, with citations. */
  recall: (body: PostRecall, options?: CallOptions) => send('POST /v1/recall', { body, readsOnly: true }, options),
  /** Writes a memory verbatim, without a model. */
  add: (body: PostMemory, options?: CallOptions) => send('POST /v1/memories', { body }, options),
  get: (id: string, options?: CallOptions) => send('GET /v1/memories/{id}', { params: { id } }, options),
  list: (query: ListQuery, options?: CallOptions) => send('GET /v1/memories', { query }, options),
  /** All memories of a list, page after page. */
  each: (query: Omit<ListQuery, 'cursor'>, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/memories', { query: { ...query, cursor } }, options)),
  update: (id: string, body: PatchMemory, options?: CallOptions) =>
    send('PATCH /v1/memories/{id}', { params: { id }, body }, options),
  /** Answers with what is forgotten with it; `dry_run` only shows that. */
  delete: (id: string, query: DeleteOneQuery = {}, options?: CallOptions) =>
    send('DELETE /v1/memories/{id}', { params: { id }, query }, options),
  /** Deletes all memories of an owner. They can be restored; see users.erase for what cannot. */
  deleteAll: (query: DeleteQuery, options?: CallOptions) => send('DELETE /v1/memories', { query }, options),
  /** Memories of all owners that were said under an agent, run or app. */
  eachUnder: (query: Omit<UnderQuery, 'cursor'>, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/ids/memories', { query: { ...query, cursor } }, options)),
  /** Takes back what was said under an agent, run or app: what was said elsewhere as well stays. Repeat it while `more` is true. */
  withdraw: (query: WithdrawQuery, options?: CallOptions) => send('DELETE /v1/ids/memories', { query }, options),
  restore: (id: string, version: number, options?: CallOptions) =>
    send('POST /v1/memories/{id}/restore', { params: { id }, body: { version } }, options),
  /** Rates a memory, which moves it among the results of searches; `none` takes it back. */
  feedback: (id: string, body: PostFeedback, options?: CallOptions) =>
    send('POST /v1/memories/{id}/feedback', { params: { id }, body }, options),
  history: (id: string, options?: CallOptions) => send('GET /v1/memories/{id}/history', { params: { id } }, options),
  /** The messages a memory came from, and their neighbours if asked for. */
  sources: (id: string, query: SourcesQuery = {}, options?: CallOptions) =>
    send('GET /v1/memories/{id}/sources', { params: { id }, query }, options),
  /** The conversation around a message, or around what an event of a history came from. */
  messages: (around: string, query: NearQuery = {}, options?: CallOptions) =>
    send('GET /v1/messages', { query: { ...query, around } }, options),
});

type ReceiptsQuery = NonNullable<Given<'GET /v1/memories/{id}/receipts'>['query']>;

export const receiptsOf = (send: Send) => ({
  /** What an answer told, by its receipt_id. Readable a moment after the answer. */
  get: (id: string, options?: CallOptions) => send('GET /v1/receipts/{id}', { params: { id } }, options),
  /** Says what an answer led to; null takes it back. */
  outcome: (id: string, outcome: PostOutcome['outcome'], options?: CallOptions) =>
    send('POST /v1/receipts/{id}/outcome', { params: { id }, body: { outcome } }, options),
  /** The answers that told a memory, newest first. */
  ofMemory: (id: string, query: ReceiptsQuery = {}, options?: CallOptions) =>
    send('GET /v1/memories/{id}/receipts', { params: { id }, query }, options),
});

export const usersOf = (send: Send, settings: Settings) => ({
  /** One page of the users, agents and runs that own memories. */
  list: (query: UsersQuery = {}, options?: CallOptions) => send('GET /v1/users', { query }, options),
  /** All users, agents and runs that own memories, page after page. */
  each: (options?: CallOptions) => everyPage((cursor) => send('GET /v1/users', { query: { cursor } }, options)),
  /** Permanently erases everything a user owns; returns where to see the progress. */
  erase: (id: string, options?: CallOptions) => send('DELETE /v1/users/{id}', { params: { id } }, options),
  /** The same for an agent. What users said to it belongs to them and is kept. */
  eraseAgent: (id: string, options?: CallOptions) => send('DELETE /v1/agents/{id}', { params: { id } }, options),
  /** The same for a run. What users or agents said in it belongs to them and is kept. */
  eraseRun: (id: string, options?: CallOptions) => send('DELETE /v1/runs/{id}', { params: { id } }, options),
  erasure: (id: string, options?: CallOptions) => send('GET /v1/erasures/{id}', { params: { id } }, options),
  /** All data of a user, line by line. */
  export: (id: string, options: CallOptions = {}): AsyncGenerator<ExportLine, void> => exported(settings, id, options),
  /** What the profile says of a user, slot by slot. */
  profile: (id: string, options?: CallOptions) => send('GET /v1/users/{id}/profile', { params: { id } }, options),
  /** Puts a line into a slot: what it shall say, or a memory that says it. Nights leave it as it is. */
  putProfileLine: (id: string, { slot, ...body }: PutProfileLine & { readonly slot: string }, options?: CallOptions) =>
    send('PUT /v1/users/{id}/profile/{slot}', { params: { id, slot }, body }, options),
  /** Takes a line out for good. The memory stays. */
  deleteProfileLine: (
    id: string,
    { slot, memory_id: memory }: { readonly slot: string; readonly memory_id: string },
    options?: CallOptions,
  ) => send('DELETE /v1/users/{id}/profile/{slot}/{memory}', { params: { id, slot, memory } }, options),
  /** Restores all memories of a user to an earlier time. */
  rollback: (id: string, body: PostRollback, options?: CallOptions) =>
    send('POST /v1/users/{id}/rollback', { params: { id }, body }, options),
  /** A link to the user's own page, which opens once: append its path to the address of the server. */
  link: (id: string, body: PostLink = {}, options?: CallOptions) =>
    send('POST /v1/users/{id}/links', { params: { id }, body }, options),
  /** Ends all links of a user, and the pages that they opened. */
  endLinks: (id: string, options?: CallOptions) => send('DELETE /v1/users/{id}/links', { params: { id } }, options),
  /** Since when nothing new is remembered of a user; null: it is. */
  paused: (id: string, options?: CallOptions) => send('GET /v1/users/{id}/pause', { params: { id } }, options),
  /** What is posted of a user from now on is never remembered. */
  pause: (id: string, options?: CallOptions) => send('PUT /v1/users/{id}/pause', { params: { id } }, options),
  resume: (id: string, options?: CallOptions) => send('DELETE /v1/users/{id}/pause', { params: { id } }, options),
});

async function* exported(settings: Settings, id: string, options: CallOptions): AsyncGenerator<ExportLine, void> {
  const answer = await open(settings, { name: 'GET /v1/users/{id}/export', given: { params: { id } }, options });
  yield* everyLine<ExportLine>(answer);
}

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
