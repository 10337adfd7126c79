import type { FastifyRequest } from 'fastify';
import { type Principal, principalOf } from './principal.ts';
import { type ProblemError, problem } from './problem.ts';
import type { App } from './types.ts';

/** Who can own memories; the first of them that a request names is the owner. */
export const OWNER_KINDS = ['user', 'agent', 'run'] as const;
type OwnerKind = (typeof OWNER_KINDS)[number];

/** How a route keeps a key for one user or app inside that. A route that says nothing takes no such key. */
export interface Bounds {
  /** body, query: they name user_id and app_id. user, agent, run: the path names that owner. found: the route asks mayKnow. */
  readonly by: 'body' | 'query' | OwnerKind | 'found';
  /** Whether it can be kept inside one app. */
  readonly apps: boolean;
}

/** Keeps keys for one user or app inside that, once a request was read and before it is answered. */
export function registerBounds(app: App): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const { principal } = request;
    const free = principal === null || (principal.userId === null && principal.appId === null);
    done((free ? null : refusalOfBounds(request, principal)) ?? undefined);
  });
}

function refusalOfBounds(request: FastifyRequest, principal: Principal): ProblemError | null {
  const { scope, bounds } = request.routeOptions.config;
  if (request.is404 || scope === 'any') return null;
  if (bounds === undefined) return bound(principal, 'this operation needs a key that is not bound to a user or app');
  if (principal.appId !== null && !bounds.apps)
    return bound(principal, 'this operation needs a key that is not bound to an app');
  if (bounds.by === 'found') return null;
  const named = namedIn(request, bounds.by);
  const strays =
    (principal.userId !== null && named.user_id !== principal.userId) ||
    (principal.appId !== null && named.app_id !== principal.appId);
  return strays ? bound(principal, 'set exactly that in the request') : null;
}

/** For a part of a request that cannot be kept inside one app: a key for one app is refused, and told why. */
export function refuseForOneApp(request: FastifyRequest, detail: string): void {
  const principal = principalOf(request);
  if (principal.appId !== null) throw bound(principal, detail);
}

interface Named {
  readonly user_id?: unknown;
  readonly app_id?: unknown;
}

function namedIn({ body, query, params }: FastifyRequest, by: 'body' | 'query' | OwnerKind): Named {
  if (by !== 'body' && by !== 'query') return { [`${by}_id`]: (params as { readonly id?: unknown }).id };
  const named = by === 'body' ? body : query;
  return typeof named === 'object' && named !== null ? named : {};
}

function bound({ userId, appId }: Principal, detail: string): ProblemError {
  const ids = [
    ...(userId === null ? [] : [`user_id ${JSON.stringify(userId)}`]),
    ...(appId === null ? [] : [`app_id ${JSON.stringify(appId)}`]),
  ];
  return problem('key_bound', `this key may only be used with ${ids.join(' and ')}; ${detail}`);
}
