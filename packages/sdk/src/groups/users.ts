import type { ExportLine, PostRollback } from '../api.ts';
import type { CallOptions, Settings } from '../options.ts';
import { everyLine, everyPage } from '../pages.ts';
import { open, type Send } from '../send.ts';

export const usersOf = (send: Send, settings: Settings) => ({
  /** Everybody and everything that has memories, page after page. */
  each: (options?: CallOptions) => everyPage((cursor) => send('GET /v1/users', { query: { cursor } }, options)),
  /** Erases all that a user owns for ever; answers with where its progress can be seen. */
  erase: (id: string, options?: CallOptions) => send('DELETE /v1/users/{id}', { params: { id } }, options),
  /** The same of an agent. What users said to it is theirs, and stays. */
  eraseAgent: (id: string, options?: CallOptions) => send('DELETE /v1/agents/{id}', { params: { id } }, options),
  /** The same of a run. What users or agents said in it is theirs, and stays. */
  eraseRun: (id: string, options?: CallOptions) => send('DELETE /v1/runs/{id}', { params: { id } }, options),
  erasure: (id: string, options?: CallOptions) => send('GET /v1/erasures/{id}', { params: { id } }, options),
  /** Everything known of a user, a line after the other. */
  export: (id: string, options: CallOptions = {}): AsyncGenerator<ExportLine, void> => exported(settings, id, options),
  /** Takes a user's memories back to how they were at a time. */
  rollback: (id: string, body: PostRollback, options?: CallOptions) =>
    send('POST /v1/users/{id}/rollback', { params: { id }, body }, options),
});

async function* exported(settings: Settings, id: string, options: CallOptions): AsyncGenerator<ExportLine, void> {
  const answer = await open(settings, { name: 'GET /v1/users/{id}/export', given: { params: { id } }, options });
  yield* everyLine<ExportLine>(answer);
}
