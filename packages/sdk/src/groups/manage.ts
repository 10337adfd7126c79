import type { PostFlush, PostKey, PutSettings, RotateKey } from '../api.ts';
import type { CallOptions } from '../options.ts';
import { everyPage } from '../pages.ts';
import type { Given, Send } from '../send.ts';

type AuditQuery = NonNullable<Given<'GET /v1/audit'>['query']>;

export const settingsGroupOf = (send: Send) => ({
  get: (options?: CallOptions) => send('GET /v1/settings', {}, options),
  replace: (body: PutSettings, options?: CallOptions) => send('PUT /v1/settings', { body }, options),
});

export const keysOf = (send: Send) => ({
  /** Its secret is in this answer alone. */
  make: (body: PostKey, options?: CallOptions) => send('POST /v1/keys', { body }, options),
  each: (tenant?: string, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/keys', { query: { tenant, cursor } }, options)),
  revoke: (id: string, options?: CallOptions) => send('DELETE /v1/keys/{id}', { params: { id } }, options),
  rotate: (id: string, body: RotateKey = {}, options?: CallOptions) =>
    send('POST /v1/keys/{id}/rotate', { params: { id }, body }, options),
});

export const auditOf = (send: Send) => ({
  /** Who did what, newest first. */
  each: (query: Omit<AuditQuery, 'cursor'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/audit', { query: { ...query, cursor } }, options)),
});

export const wholeOf = (send: Send) => ({
  /** Makes what an owner has waiting due now. */
  flush: (body: PostFlush, options?: CallOptions) => send('POST /v1/flush', { body, readsOnly: true }, options),
  stats: (options?: CallOptions) => send('GET /v1/stats', {}, options),
});
