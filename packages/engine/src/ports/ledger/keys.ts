import type { Millis, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';

/** What a key may be used for. admin stands for all of them; subject for what people may do with their own memories. */
export type KeyScope = 'ingest' | 'search' | 'manage' | 'subject' | 'admin';

/**
 * A key of the API. Its secret is known to whoever it was given to and to nobody else. Rows are never deleted, so that a
 * ledger that has had a key never counts as one without.
 */
export interface ApiKey {
  readonly id: string;
  readonly tenant: TenantId;
  /** What people call it. */
  readonly name: string;
  /** A digest of its secret. */
  readonly hash: string;
  /** The secret before the last rotation, while it is still taken. */
  readonly previous: { readonly hash: string; readonly until: Millis } | null;
  readonly scopes: readonly KeyScope[];
  /** The one user, and the one app, it may be used for; null: all of the tenant. */
  readonly userId: string | null;
  readonly appId: string | null;
  readonly createdAt: Millis;
  readonly expiresAt: Millis | null;
  readonly revokedAt: Millis | null;
  /** Coarse: some time within an hour of the last use. */
  readonly lastUsedAt: Millis | null;
}

export type NewKey = Omit<ApiKey, 'previous' | 'revokedAt' | 'lastUsedAt'>;

export interface Rotation {
  /** Of the new secret. */
  readonly hash: string;
  /** How long the present secret is still taken; one before it is not any more. */
  readonly until: Millis;
}

/**
 * A link that opens the page of one user, once. Its secret is then exchanged for a token, which counts for a short time and is
 * prolonged while the page is open, though never beyond the link.
 */
export interface Link {
  readonly id: string;
  readonly tenant: TenantId;
  readonly userId: string;
  /** A digest of its secret. */
  readonly hash: string;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  /** null: nobody has opened it yet. */
  readonly openedAt: Millis | null;
  /** null until it is opened. */
  readonly token: LinkToken | null;
}

export interface LinkToken {
  /** A digest of it. */
  readonly hash: string;
  readonly until: Millis;
}

export type NewLink = Omit<Link, 'openedAt' | 'token'>;

export interface LinkStore {
  /** What has long expired of this user goes. */
  create(link: NewLink): Promise<void>;
  /** Of whatever tenant: a link says whose it is. */
  find(id: string): Promise<Link | null>;
  /** Whether this opened it: of all who try, one does. */
  open(id: string, token: LinkToken, now: Millis): Promise<boolean>;
  /** Prolongs the token of an open link, if it still counts. The link as it is then; null: it does not count any more. */
  prolong(id: string, until: Millis, now: Millis): Promise<Link | null>;
  /** All links of a user end, opened or not. How many. */
  end(tenant: TenantId, userId: string): Promise<number>;
}

export interface KeyStore {
  create(key: NewKey): Promise<void>;
  /** Of whatever tenant: a key says whose it is. Not for ids that callers name; those are looked up by tenant. */
  find(id: string): Promise<ApiKey | null>;
  get(tenant: TenantId, id: string): Promise<ApiKey | null>;
  list(tenant: TenantId, page: Page): Promise<Paged<ApiKey>>;
  /** Ends it, once and for good. The key as it is then; null: the tenant has none of this id. */
  revoke(tenant: TenantId, id: string, now: Millis): Promise<ApiKey | null>;
  /** Replaces its secret, unless it is revoked. The key as it is then; null: the tenant has none of this id. */
  rotate(tenant: TenantId, id: string, rotation: Rotation): Promise<ApiKey | null>;
  used(id: string, at: Millis): Promise<void>;
  /** Whether there has ever been one. */
  any(): Promise<boolean>;
  /** The secret that all processes seal sessions with: the one that is kept, else this one from now on. */
  seal(made: string): Promise<string>;
}
