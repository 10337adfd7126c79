import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { App } from './types.ts';

const API_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** For pages made for people: everything they load comes from here. Their styles are partly inline. */
const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** For the console: nothing in it is inline, and nothing comes from elsewhere. `ancestors`: who may show it in a frame. */
export const consolePolicy = (ancestors: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
  ].join('; ');

/** Adds the request id and security headers to every response. */
export function registerHeaders(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(API_HEADERS);
    done();
  });
}

/**
 * Allows the pages of this plugin to load their own scripts, styles and images, and nothing from elsewhere. Only these
 * pages can be opened with a session as well as with a key.
 */
export function allowPages(app: App): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, page: true };
  });
  app.addHook('onRequest', async (_request, reply) => {
    // The referrer shows whether a form comes from here if a browser sends nothing else.
    reply.header('content-security-policy', PAGE_POLICY).header('referrer-policy', 'same-origin');
  });
}

/** What a caller may choose as the id of a request: it is written to logs and headers. */
const SAFE_ID = /^[\w.:-]{1,128}$/;

/** The caller's x-request-id if it is harmless, else a new one. */
export function requestId(request: { readonly headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
}
