import type { FastifyRequest } from 'fastify';
import type { AuditSink } from './entry.ts';

/** What the shell refuses, before a route has looked at anything. */
const REFUSALS: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'scope_missing',
  'key_bound',
  'too_many_requests',
]);

export const isRefusal = (code: string | null): boolean => code !== null && REFUSALS.has(code);

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Whether the answered request leaves an entry: what changes something, what admins read, and whatever was refused.
 * Routes for any key only pass on to others, which leave entries of their own.
 */
export function isRecorded({ routeOptions, method, problemCode, is404 }: FastifyRequest, what: AuditSink['what']) {
  const { config, url } = routeOptions;
  const { scope = 'operator', open = false, audited } = config;
  if (is404 || url === undefined) return false;
  if (audited !== undefined) return audited;
  if (open) return false;
  if (isRefusal(problemCode)) return true;
  if (scope === 'any') return false;
  const reads = READS.has(method);
  // Pages ask for themselves again and again, and so does who collects metrics.
  if (!url.startsWith('/v1/')) return !reads;
  if (what === 'all') return true;
  return scope !== 'search' && (!reads || scope === 'admin' || scope === 'operator');
}
