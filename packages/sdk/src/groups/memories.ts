import type { PatchMemory, PostContext, PostMemory, PostRecall, PostSearch } from '../api.ts';
import type { CallOptions } from '../options.ts';
import { everyPage } from '../pages.ts';
import type { Given, Send } from '../send.ts';

type ListQuery = NonNullable<Given<'GET /v1/memories'>['query']>;
type DeleteQuery = NonNullable<Given<'DELETE /v1/memories'>['query']>;
type SourcesQuery = NonNullable<Given<'GET /v1/memories/{id}/sources'>['query']>;

export const memoriesOf = (send: Send) => ({
  search: (body: PostSearch, options?: CallOptions) => send('POST /v1/search', { body, readsOnly: true }, options),
  /** What is known of an owner, as a block for a prompt. */
  context: (body: PostContext, options?: CallOptions) => send('POST /v1/context', { body, readsOnly: true }, options),
  /** Has a question answered from memories, with citations. */
  recall: (body: PostRecall, options?: CallOptions) => send('POST /v1/recall', { body, readsOnly: true }, options),
  /** Writes a memory as it is given, without a model. */
  add: (body: PostMemory, options?: CallOptions) => send('POST /v1/memories', { body }, options),
  get: (id: string, options?: CallOptions) => send('GET /v1/memories/{id}', { params: { id } }, options),
  list: (query: ListQuery, options?: CallOptions) => send('GET /v1/memories', { query }, options),
  /** All memories of a list, page after page. */
  each: (query: Omit<ListQuery, 'cursor'>, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/memories', { query: { ...query, cursor } }, options)),
  update: (id: string, body: PatchMemory, options?: CallOptions) =>
    send('PATCH /v1/memories/{id}', { params: { id }, body }, options),
  delete: (id: string, options?: CallOptions) => send('DELETE /v1/memories/{id}', { params: { id } }, options),
  /** Deletes all memories of an owner. They can be restored; see users.erase for what cannot. */
  deleteAll: (query: DeleteQuery, options?: CallOptions) => send('DELETE /v1/memories', { query }, options),
  restore: (id: string, version: number, options?: CallOptions) =>
    send('POST /v1/memories/{id}/restore', { params: { id }, body: { version } }, options),
  history: (id: string, options?: CallOptions) => send('GET /v1/memories/{id}/history', { params: { id } }, options),
  /** The messages a memory came from, and their neighbours if asked for. */
  sources: (id: string, query: SourcesQuery = {}, options?: CallOptions) =>
    send('GET /v1/memories/{id}/sources', { params: { id }, query }, options),
});
