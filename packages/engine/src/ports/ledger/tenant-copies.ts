import type { TenantId } from '../../words.ts';

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
  /** null: none was taken over. */
  taken(tenant: TenantId): Promise<TakenCopy | null>;
}
