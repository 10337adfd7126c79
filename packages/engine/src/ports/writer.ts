import type { JsonObject, Memory, Millis, Scope, TenantId } from '../words.ts';

/** A memory somebody writes themselves, without a conversation. */
export interface NewMemory {
  readonly scope: Scope;
  readonly text: string;
  readonly metadata: JsonObject;
  readonly category: string | null;
  readonly immutable: boolean;
  readonly pinned?: boolean;
  /** When it began to hold; null: now. */
  readonly validFrom: Millis | null;
  readonly expiresAt: Millis | null;
}

/** What shall be different; what is left out stays as it is. */
export interface MemoryPatch {
  readonly text?: string;
  readonly metadata?: JsonObject;
  readonly category?: string | null;
  readonly immutable?: boolean;
  readonly pinned?: boolean;
  readonly expiresAt?: Millis | null;
  /** Change it only if this is still its newest version. */
  readonly expectedVersion?: number;
}

export type Refusal =
  /** No such memory of this tenant, or it was deleted. */
  | { readonly kind: 'not_found' }
  /** Changed by somebody else in between, or not at the expected version. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'immutable' }
  /** The memory never said anything under this number. */
  | { readonly kind: 'no_version' }
  /** Retention has removed what it said under this number. */
  | { readonly kind: 'removed' };

export type WriteResult =
  /** In the ledger, and searchable. */
  | { readonly kind: 'written'; readonly memory: Memory }
  /** In the ledger, and found by its words: the embedder refuses it for good, or did not answer in time. */
  | { readonly kind: 'words'; readonly memory: Memory }
  /** In the ledger; searchable once the index is back. */
  | { readonly kind: 'unprojected'; readonly memory: Memory }
  | Refusal;

export type RemoveAllResult =
  | { readonly kind: 'written'; readonly count: number }
  | { readonly kind: 'unprojected'; readonly count: number }
  | { readonly kind: 'conflict' };

/** Explicit writes: no model; one ledger transaction, then projected before they are answered. */
export interface MemoryWriter {
  add(tenant: TenantId, memory: NewMemory): Promise<WriteResult>;
  change(tenant: TenantId, id: string, patch: MemoryPatch): Promise<WriteResult>;
  /** A former version's text and details hold again, from now on; of a deleted or undone memory as well. */
  restore(tenant: TenantId, id: string, version: number): Promise<WriteResult>;
  remove(tenant: TenantId, id: string): Promise<WriteResult>;
  /** Every live memory of an owner that also fits the other ids of the scope. */
  removeAll(tenant: TenantId, scope: Scope): Promise<RemoveAllResult>;
}
