import { ExternalId, type KeyScope } from '@slowwave/contracts';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { ProblemError, problem } from './errors.ts';
import type { App } from './shell.ts';

/** Who sends a request: the rights of a key. */
export interface Principal {
  /** null: the static key, or no key was needed. */
  readonly keyId: string | null;
  readonly tenant: string;
  readonly scopes: readonly KeyScope[];
  /** The user and the app that the key is bound to; null: not bound. */
  readonly userId: string | null;
  readonly appId: string | null;
  /** How a person came who has sent no key: missing if a key was sent. */
  readonly came?: Coming;
  /** No key was sent, and none was needed. */
  readonly keyless?: true;
}

/** Somebody signed in, or opened a link, at that time; null: has not opened it yet. */
interface Coming {
  readonly by: 'session' | 'link';
  readonly at: number | null;
}

export type CheckedKey =
  | { readonly kind: 'taken'; readonly principal: Principal }
  | {
      readonly kind: 'refused';
      readonly reason: 'unknown' | 'replaced' | 'expired' | 'revoked' | 'opened';
      /** The key that is no longer valid; missing if it is unknown. */
      readonly key?: { readonly id: string; readonly tenant: string };
    };

/** The keys of the ledger. */
export interface KeyCheck {
  /** Looks up a text that was sent as a key. Throws if that is impossible now. */
  check(text: string): Promise<CheckedKey>;
  /** Whether a key was ever created: from then on every request needs one. Never becomes false again. */
  any(): Promise<boolean>;
  /** A secret that all processes share, to seal sessions with; omitted: each process makes its own. */
  seal?(): Promise<string>;
}

/** The tenant of the operator: its admins manage the whole installation. */
export const OPERATOR_TENANT = 'default';

/** May do everything. */
export const OPERATOR: Principal = {
  keyId: null,
  tenant: OPERATOR_TENANT,
  scopes: ['admin'],
  userId: null,
  appId: null,
};

/** Requests that need no key: the same rights. */
export const LOOPBACK: Principal = { ...OPERATOR, keyless: true };

/** Whether a request was let in without a key. */
export const isKeyless = ({ principal }: Pick<FastifyRequest, 'principal'>): boolean => principal?.keyless === true;

/** Names the user that a request is about. */
export const USER_HEADER = 'x-slowwave-user';

/**
 * Keeps a request to the user whom its header names, as if its key were bound to that user. So a program with a key for all
 * users can pass on what somebody else decides, such as the calls of a model, and need not check it.
 */
export function narrowed(principal: Principal, headers: FastifyRequest['headers']): Principal {
  const userId = idIn(headers, USER_HEADER);
  if (userId === null || userId === principal.userId) return principal;
  if (principal.userId !== null) throw bound(principal, `${USER_HEADER} names another user; remove it`);
  // Only shrinks rights: a scope that needs a bound key must not begin to count.
  return { ...principal, scopes: principal.scopes.filter((scope) => scope !== 'subject'), userId };
}

/** An id in a header, percent-encoded because headers are ASCII; null: there is none. */
export function idIn(headers: FastifyRequest['headers'], name: string): string | null {
  const sent = headers[name];
  if (sent === undefined) return null;
  const id = ExternalId.safeParse(decoded(String(sent)));
  if (id.success) return id.data;
  throw problem('invalid_request', `expected a percent-encoded id in the header ${name}, got something else`);
}

/** null: it is not encoded rightly. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** An admin of the operator's tenant. */
export const isOperator = ({ tenant, scopes }: Principal): boolean =>
  tenant === OPERATOR_TENANT && scopes.includes('admin');

/** Who sent a request. Only open routes have no principal. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null)
    throw new Error(`${request.routeOptions.url} needs no key, so the request has no principal`);
  return request.principal;
}

/** The tenant a request belongs to. */
export const requestTenant = (request: FastifyRequest): string => principalOf(request).tenant;

/** Whether the key may see data of this user and app: a key for one user finds nothing of others. */
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

/** The app that the key is bound to: it neither sees nor changes what was only said in others. null: none. */
export const ownApp = (request: FastifyRequest): string | null => principalOf(request).appId;

export const isForOneApp = (request: FastifyRequest): boolean => ownApp(request) !== null;

/** The scope that a route needs. any: every key. operator: an admin of the operator's tenant. */
export type RouteScope = KeyScope | 'any' | 'operator';

/** Sets the scope of all routes that are added to this app and its plugins from now on. */
export function needScope(app: App, scope: RouteScope): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, scope };
    if (route.url.startsWith('/v1/')) describe(route, scope);
  });
}

/** Adds the scope to the OpenAPI description. */
function describe(route: RouteOptions, scope: RouteScope): void {
  const scopes = route.config?.subject === true ? [scope, 'subject'] : [scope];
  const security = scope === 'any' ? [{ key: [] }] : scopes.map((one) => ({ key: [one] }));
  route.schema = { ...route.schema, security };
}

/** Why a key does not have the scope of the route; null: it has. A route without a scope is for operators. */
export function refusalOfScope(request: FastifyRequest, principal: Principal): ProblemError | null {
  const { scope = 'operator', subject = false } = request.routeOptions.config;
  if (request.is404 || scope === 'any') return null;
  if (subject && principal.userId !== null && principal.scopes.includes('subject')) return null;
  if (scope === 'operator') return isOperator(principal) ? null : operatorsOnly();
  const { scopes } = principal;
  if (scopes.includes(scope) || scopes.includes('admin')) return null;
  const got = scopes.length === 0 ? 'a link that is not opened yet' : `one with ${scopes.join(', ')}`;
  return problem('scope_missing', `expected a key with the scope ${scope}, got ${got}`);
}

export const operatorsOnly = (): ProblemError =>
  problem(
    'scope_missing',
    'this affects the whole installation and requires a key of the tenant default with the scope admin',
  );

/** The kinds of owners; the first one that a request names is the owner. */
export const OWNER_KINDS = ['user', 'agent', 'run'] as const;
export type OwnerKind = (typeof OWNER_KINDS)[number];

/** How a route limits a key for one user or app. A route without bounds refuses such keys. */
export interface Bounds {
  /** body, query: these have user_id and app_id. user, agent, run: the path has that owner. found: the route calls mayKnow. */
  readonly by: 'body' | 'query' | OwnerKind | 'found';
  /** Whether it can be limited to one app. */
  readonly apps: boolean;
}

/** Checks keys for one user or app after a request is parsed and before it is handled. */
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

/** How long somebody counts as having just shown who they are. */
const JUST_NOW_MS = 15 * 60_000;

/**
 * Refuses people who act for one user and signed in, or opened their link, longer ago than that: what cannot be undone is for
 * whoever has just shown who they are, and not for a page that was left open. A key that is sent shows it each time.
 */
export function requireJustCome(request: FastifyRequest, now: number): void {
  const { userId, came } = principalOf(request);
  if (userId === null || came === undefined) return;
  if (came.at !== null && now - came.at < JUST_NOW_MS) return;
  throw problem(
    'sign_in_again',
    'this cannot be undone, so it needs a link that was opened, or a sign-in, within the last 15 minutes; ' +
      'open a new link, or sign in again',
  );
}

/** Refuses a key for one app, for an option of a request that cannot be limited to one app. */
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

/** A key that is no longer valid, sent with its secret. */
export interface RefusedKey {
  readonly id: string;
  readonly tenant: string;
}

/** The key that was sent is refused. */
export class RefusedKeyError extends ProblemError {
  readonly key: RefusedKey | null;

  constructor(
    code: 'unauthorized' | 'link_opened',
    detail: string,
    { key, headers }: { key: RefusedKey | null; headers: Readonly<Record<string, string>> },
  ) {
    super(code, detail, { headers });
    this.name = 'RefusedKeyError';
    this.key = key;
  }
}
