import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { report, sendProblem } from './errors.ts';
import { isLoopback } from './loopback.ts';
import { type CheckedKey, OPERATOR, type Principal } from './principal.ts';
import { ProblemError, problem } from './problem.ts';
import { refusalOfScope } from './scopes.ts';
import type { App, AuthOptions, HttpLog } from './types.ts';

/** Lets a request in or refuses it, before anything of its body is read. */
export function registerAuth(app: App, auth: AuthOptions, log: HttpLog): void {
  app.decorateRequest('principal', null);
  const whoAsks = asking(auth);
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.open === true) return;
    // Answered here and not thrown: pages of others bring error handlers of their own.
    try {
      request.principal = await whoAsks(request);
    } catch (error) {
      return sendProblem(reply, error instanceof ProblemError ? error : report(error, request, log));
    }
    const refusal = refusalOfScope(request, request.principal);
    if (refusal !== null) return sendProblem(reply, refusal);
  });
}

/** Tells who asks; throws a problem where nobody may. */
function asking({ apiKey, keys }: AuthOptions): (request: FastifyRequest) => Promise<Principal> {
  const expected = apiKey === null ? null : digest(apiKey);
  return async (request) => {
    const needsKey = expected !== null || (keys !== null && (await keys.any()));
    if (!needsKey) return withoutKey(request);
    const given = keyOf(request.headers.authorization);
    if (given === null) throw unauthorized(request, NO_KEY);
    if (expected !== null && timingSafeEqual(digest(given), expected)) return OPERATOR;
    const checked: CheckedKey = keys === null ? UNKNOWN : await keys.check(given);
    if (checked.kind === 'taken') return checked.principal;
    throw unauthorized(request, REFUSALS[checked.reason]);
  };
}

const UNKNOWN: CheckedKey = { kind: 'refused', reason: 'unknown' };

/**
 * Without a key only this machine can connect. A web page of somebody else's could still reach the port through the
 * browser with a name that resolves here; its requests name another host.
 */
function withoutKey(request: FastifyRequest): Principal {
  if (isLoopback(request.hostname)) return OPERATOR;
  throw problem(
    'forbidden',
    'without a key only requests to localhost are answered, and this one names another host; ' +
      'set SLOWWAVE_API_KEY to use other names',
  );
}

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

const NO_KEY = 'this service needs a key; send the header authorization: Bearer <key>';

const REFUSALS: Readonly<Record<Extract<CheckedKey, { kind: 'refused' }>['reason'], string>> = {
  unknown: 'this key is not known here; check it, or SLOWWAVE_API_KEY of the service',
  replaced: 'this secret of the key was replaced by a new one; use that',
  expired: 'this key has expired; ask for another one',
  revoked: 'this key was revoked; ask for another one',
};

function unauthorized(request: FastifyRequest, detail: string): ProblemError {
  const scheme = request.headers.accept?.includes('text/html') ? 'Basic' : 'Bearer';
  return problem('unauthorized', detail, { headers: { 'www-authenticate': `${scheme} realm="slowwave"` } });
}
