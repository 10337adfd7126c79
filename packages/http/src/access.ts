import type { KeyScope } from '@slowwave/contracts';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { ProblemError, problem } from './errors.ts';
import type { App } from './types.ts';

/** Who asks: what a key stands for. */
export interface Principal {
  /** null: the static key, or nobody's where no key is needed. */
  readonly keyId: string | null;
  readonly tenant: string;
  readonly scopes: readonly KeyScope[];
  /** The one user, and the one app, it may be used for; null: all of the tenant. */
  readonly userId: string | null;
  readonly appId: string | null;
}

export type CheckedKey =
  | { readonly kind: 'taken'; readonly principal: Principal }
  | {
      readonly kind: 'refused';
      readonly reason: 'unknown' | 'replaced' | 'expired' | 'revoked';
      /** The one that has ended; missing where it is unknown. */
      readonly key?: { readonly id: string; readonly tenant: string };
    };

/** The keys that were given out. */
export interface KeyCheck {
  /** What a text stands for that was sent as a key. Throws when that cannot be found out now. */
  check(text: string): Promise<CheckedKey>;
  /** Whether there has ever been a key: from then on every request needs one. Once true, true for ever. */
  any(): Promise<boolean>;
}

/** The tenant of the operator: its admins look after the whole installation. */
export const OPERATOR_TENANT = 'default';

/** May do everything. */
export const OPERATOR: Principal = {
  keyId: null,
  tenant: OPERATOR_TENANT,
  scopes: ['admin'],
  userId: null,
  appId: null,
};

/** Whoever asks where no key is needed: the same, and told apart. */
export const LOOPBACK: Principal = { ...OPERATOR };

/** Whether a request was let in without a key. */
export const isKeyless = (request: FastifyRequest): boolean => request.principal === LOOPBACK;

/** An admin of the tenant that looks after the whole installation. */
export const isOperator = ({ tenant, scopes }: Principal): boolean =>
  tenant === OPERATOR_TENANT && scopes.includes('admin');

/** Who asks. Only routes that answer without a key have nobody. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null)
    throw new Error(`${request.routeOptions.url} needs no key, so the request has no principal`);
  return request.principal;
}

/** The tenant a request belongs to. */
export const requestTenant = (request: FastifyRequest): string => principalOf(request).tenant;

/** Whether something of these ids may be shown to who asks: a key for one user finds nothing of others. */
export function mayKnow(
  request: FastifyRequest,
  { userId, appId }: { readonly userId: string | null; readonly appId: string | null },
): boolean {
  const principal = principalOf(request);
  return (
    (principal.userId === null || principal.userId === userId) &&
    (principal.appId === null || principal.appId === appId)
  );
}

/** The app to which who asks is kept: what only others were told is neither shown to them nor changed by them. null: to none. */
export const ownApp = (request: FastifyRequest): string | null => principalOf(request).appId;

export const isForOneApp = (request: FastifyRequest): boolean => ownApp(request) !== null;

/** What a route needs of a key. any: that it is one. operator: admin of the tenant that looks after the installation. */
export type RouteScope = KeyScope | 'any' | 'operator';

/** What the routes need that are added to this app, or in a plugin of it, from now on. */
export function needScope(app: App, scope: RouteScope): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, scope };
    if (route.url.startsWith('/v1/')) describe(route, scope);
  });
}

/** Tells in the description of the API which role a key needs. */
function describe(route: RouteOptions, scope: RouteScope): void {
  route.schema = { ...route.schema, security: [{ key: scope === 'any' ? [] : [scope] }] };
}

/** Why a request may not do what it asks for; null: it may. A route that says nothing is for operators. */
export function refusalOfScope(request: FastifyRequest, principal: Principal): ProblemError | null {
  const { scope = 'operator' } = request.routeOptions.config;
  if (request.is404 || scope === 'any') return null;
  if (scope === 'operator') return isOperator(principal) ? null : operatorsOnly();
  const { scopes } = principal;
  if (scopes.includes(scope) || scopes.includes('admin')) return null;
  return problem('scope_missing', `expected a key with the scope ${scope}, got one with ${scopes.join(', ')}`);
}

const operatorsOnly = (): ProblemError =>
  problem(
    'scope_missing',
    'this affects the whole installation and requires a key of the tenant default with the scope admin',
  );

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

/** `Authorization: Bearer <key>` or `Token <key>`, or `X-API-Key: <key>`. */
export function keyIn(headers: FastifyRequest['headers']): string | null {
  const [, value] = /^(?:bearer|token) +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  const other = headers['x-api-key'];
  return value ?? (typeof other === 'string' && other !== '' ? other : null);
}

/** The key that has ended, where whoever sent it had its secret. */
export interface RefusedKey {
  readonly id: string;
  readonly tenant: string;
}

/** A key was sent, and is not taken. */
export class RefusedKeyError extends ProblemError {
  readonly key: RefusedKey | null;

  constructor(detail: string, { key, headers }: { key: RefusedKey | null; headers: Readonly<Record<string, string>> }) {
    super('unauthorized', detail, { headers });
    this.name = 'RefusedKeyError';
    this.key = key;
  }
}
