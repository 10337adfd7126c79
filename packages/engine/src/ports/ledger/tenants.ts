import type { Millis, TenantId } from '../../words.ts';
import type { Page, Paged } from './ledger.ts';

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

interface Rotation {
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

interface LinkToken {
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

/** done: below 400. refused: nobody may, or not now (401, 403, 429). failed: everything else. */
export type TrailOutcome = 'done' | 'refused' | 'failed';

/** Statuses of answers to who may not, or not now. */
export const REFUSED_STATUSES: readonly number[] = [401, 403, 429];
/** From here on an answer says that something was not done. */
export const FIRST_FAILED_STATUS = 400;

export function outcomeOf(status: number): TrailOutcome {
  if (status < FIRST_FAILED_STATUS) return 'done';
  return REFUSED_STATUSES.includes(status) ? 'refused' : 'failed';
}

/** What a request was about: an owner (user, agent, run), or a thing of ours by its id. Never what was said. */
interface TrailSubject {
  /** user, agent, run, memory, batch, key, …; erasure where the owner was erased: its id is forgotten. */
  readonly kind: string;
  readonly id: string;
}

/** Who asked for what, and what came of it. Written once; only the erasure of its subject ever changes it. */
export interface TrailEntry {
  readonly id: string;
  readonly tenant: TenantId;
  /** When the request came. */
  readonly at: Millis;
  /** The id of a key, or operator, loopback, offline, nobody. */
  readonly by: string;
  /** Asked from a page that somebody had signed in to. */
  readonly session: boolean;
  /** Method and template of the route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  readonly subject: TrailSubject | null;
  readonly status: number;
  /** Of the problem that was answered. */
  readonly code: string | null;
  /** null: it named an owner that was erased. */
  readonly requestId: string | null;
}

/** What the entry of nearly every request says: a new batch was posted. One that was posted before is answered otherwise. */
export const POST = { action: 'POST /v1/batches', status: 202, subject: 'batch' } as const;

export const isPost = ({
  action,
  status,
  code,
  subject,
}: Omit<TrailEntry, 'id' | 'tenant' | 'at' | 'by' | 'session' | 'requestId'>): boolean =>
  action === POST.action && status === POST.status && code === null && subject?.kind === POST.subject;

/** The id of such an entry. A batch is new once. */
export const idOfPost = (batchId: string): string => `aud_${batchId.slice('bat_'.length)}`;

export interface NewTrailEntry extends TrailEntry {
  /** As an erasure of the subject has it; null: the subject is no owner. */
  readonly ownerHash: string | null;
}

export interface TrailFilter {
  readonly by?: string;
  /** The id of a subject. */
  readonly subject?: string;
  readonly action?: string;
  readonly outcome?: TrailOutcome;
  readonly since?: Millis;
  /** Not included. */
  readonly until?: Millis;
}

/** The audit log: who did what. Append-only, but for erasures and for what is old. */
export interface TrailStore {
  /**
   * An entry that is there already is left as it is. One from before the erasure of its owner was over names the erasure
   * instead, however late it comes.
   */
  append(entries: readonly NewTrailEntry[]): Promise<void>;
  list(tenant: TenantId, filter: TrailFilter, page: Page): Promise<Paged<TrailEntry>>;
  /** At most `limit` entries about the owner of an erasure name the erasure instead. Returns how many. */
  forgetOwner(erasureId: string, limit: number): Promise<number>;
  /** At most `limit` entries from before a moment go, or rows of them; some of the last seconds before it stay. Returns how many. */
  drop(before: Millis, limit: number): Promise<number>;
}

/** Everything of a tenant that is no owner's, as rows by their kinds: what it has chosen, what it may, who may do what, who is notified. */
export interface TenantCopy {
  /** Another one as soon as anything of it is different. */
  readonly version: string;
  readonly rows: CopiedRows;
}

export type CopiedRows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** A copy that a cell has taken over. */
export interface TakenCopy {
  /** The directory's, of this tenant. */
  readonly epoch: number;
  readonly version: string;
}

/** What is tenant-wide is changed in one cell, its home, and copied to the others as a whole. */
export interface TenantCopyStore {
  read(tenant: TenantId): Promise<TenantCopy>;
  /**
   * Without rows, as in the home itself, only the epoch is noted. What is copied is all there is from now on; what this ledger itself observes (how webhooks
   * do, when keys were used) stays. With rows, this cell waits to be told its share, if it never was. null: a copy of a later epoch is here. A text: what of it
   * cannot be taken over.
   */
  take(tenant: TenantId, copy: TakenCopy, rows: CopiedRows | null): Promise<TakenCopy | string | null>;
}
