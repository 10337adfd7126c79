import type { Entity, EntityKind, KeptRelation } from '../graph/words.ts';
import type { Millis, Owner, TenantId } from '../words.ts';

/** An entity somebody names: one that is there, or one that is made with the statement. */
export type EntityGiven =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string; readonly of: EntityKind | null }
  | { readonly kind: 'self' };

export interface NewRelation {
  readonly source: EntityGiven;
  readonly relationship: string;
  readonly destination: EntityGiven;
  /** null: from now on. */
  readonly validFrom: Millis | null;
  /** It held until then; null: it holds. */
  readonly until: Millis | null;
  /** null: as its relationship is. */
  readonly single: boolean | null;
  readonly quote: string | null;
}

/** What shall be different; what is left out stays as it is. */
export interface RelationPatch {
  readonly source?: EntityGiven;
  readonly relationship?: string;
  readonly destination?: EntityGiven;
  readonly validFrom?: Millis;
  /** null: it holds after all. */
  readonly invalidAt?: Millis | null;
  readonly reason?: string;
}

export type GraphRefusal =
  | { readonly kind: 'not_found'; readonly what: 'entity' | 'relation'; readonly id: string }
  /** Several entities are called so. */
  | { readonly kind: 'ambiguous'; readonly name: string; readonly ids: readonly string[] }
  /** It cannot be so; `why` says what to do. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The owner was erased meanwhile, or somebody changed the same. */
  | { readonly kind: 'conflict' };

export type GraphWritten<T> =
  /** searchable: false: stored, and found once the index is back. */
  { readonly kind: 'written'; readonly value: T; readonly searchable: boolean } | GraphRefusal;

export interface ChangedRelation {
  readonly relation: KeptRelation;
  /** The id it had before, where it was said anew. */
  readonly replaces: string | null;
}

/** Explicit changes of a graph: each is one or more statements, in one transaction, projected before it is answered. */
export interface GraphWriter {
  relate(tenant: TenantId, owner: Owner, relation: NewRelation): Promise<GraphWritten<KeptRelation>>;
  change(tenant: TenantId, id: string, patch: RelationPatch): Promise<GraphWritten<ChangedRelation>>;
  /** It never was: nothing said before shows it again. */
  remove(tenant: TenantId, id: string): Promise<GraphWritten<KeptRelation>>;
  /** One entity is the same as another, which stays. */
  merge(
    tenant: TenantId,
    id: string,
    how: { readonly into: string; readonly reason: string },
  ): Promise<GraphWritten<Entity>>;
  /** It stands for itself, and is proposed to be nobody else. */
  split(tenant: TenantId, id: string): Promise<GraphWritten<Entity>>;
  /** It is also called so. */
  call(tenant: TenantId, id: string, alias: string): Promise<GraphWritten<Entity>>;
}
