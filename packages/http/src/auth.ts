import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sendProblem } from './errors.ts';
import { isLoopback } from './loopback.ts';
import { type ProblemError, problem } from './problem.ts';
import type { App } from './types.ts';

/** The one tenant of an installation with one static key. */
const TENANT = 'default';

/** Lets a request in or refuses it, before anything of its body is read. */
export function registerAuth(app: App, apiKey: string | null): void {
  app.decorateRequest('tenant', TENANT);
  const expected = apiKey === null ? null : digest(apiKey);
  app.addHook('onRequest', async (request, reply) => {
    const refusal = request.routeOptions.config.open === true ? null : refusalOf(request, expected);
    // Answered here and not thrown: pages of others bring error handlers of their own.
    if (refusal !== null) return sendProblem(reply, refusal);
  });
}

function refusalOf(request: FastifyRequest, expected: Buffer | null): ProblemError | null {
  if (expected === null) return isLoopback(request.hostname) ? null : foreignHost();
  const given = keyOf(request.headers.authorization);
  if (given !== null && timingSafeEqual(digest(given), expected)) return null;
  return unauthorized(request, given !== null);
}

/** The tenant a request belongs to. */
export const requestTenant = (request: FastifyRequest): string => request.tenant;

/** Digests have one length, so that comparing them tells nothing about the key. */
const digest = (key: string): Buffer => createHash('sha256').update(key).digest();

/** `Bearer <key>`, `Token <key>`, or the password of `Basic`, which is what a browser can send to /docs and /queues. */
function keyOf(header: string | undefined): string | null {
  const [, scheme, value] = /^(bearer|token|basic) +(\S+) *$/i.exec(header ?? '') ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() !== 'basic') return value;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

function unauthorized(request: FastifyRequest, wasGiven: boolean): ProblemError {
  const detail = wasGiven
    ? 'the key is not the one this service was started with; check SLOWWAVE_API_KEY'
    : 'this service needs a key; send the header authorization: Bearer <key>';
  const scheme = request.headers.accept?.includes('text/html') ? 'Basic' : 'Bearer';
  return problem('unauthorized', detail, { headers: { 'www-authenticate': `${scheme} realm="slowwave"` } });
}

/**
 * Without a key only this machine can connect. A web page of somebody else's could still reach the port through the
 * browser with a name that resolves here; its requests name another host.
 */
function foreignHost(): ProblemError {
  return problem(
    'forbidden',
    'without a key only requests to localhost are answered, and this one names another host; ' +
      'set SLOWWAVE_API_KEY to use other names',
  );
}
