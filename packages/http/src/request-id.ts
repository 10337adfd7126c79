import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What a caller may choose as the id of a request: it is written to logs and headers. */
const SAFE_ID = /^[\w.:-]{1,128}$/;

/** The caller's x-request-id where it is harmless, else a new one. */
export function requestId(request: { readonly headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
}
