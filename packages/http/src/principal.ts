import type { KeyScope } from '@slowwave/contracts';
import type { FastifyRequest } from 'fastify';

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

/** Whether who asks is kept to one app: what other apps were told is neither shown to them nor changed by them. */
export const isForOneApp = (request: FastifyRequest): boolean => principalOf(request).appId !== null;
