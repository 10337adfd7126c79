import type { OpenProposal } from '../../graph/fold.ts';
import type { Entity, GraphPlan, KeptRelation, NewEntity, Statement } from '../../graph/words.ts';
import type { Failure, LaneId, Millis, Owner, Scope, TenantId } from '../../words.ts';
import type { Fenced } from './lanes.ts';
import type { Page, Paged } from './ledger.ts';
import type { Held, HeldStore } from './thoughts.ts';

/**
 * A study's life: pending (stored with the apply of its consolidation, in the same transaction) → applied, or parked when
 * its tries are used up; asked for again, it is pending once more. While its consolidation is undone it waits.
 * Studies of a lane are made in the order of applying, one at a time.
 */
export type StudyState = 'pending' | 'applied' | 'parked';

/** One claimed study. Its epoch is of the lane's graph; with null for the next try it is parked. */
export type Study = Held;

/** A study as it is shown. */
export interface StudyView {
  readonly consolidationId: string;
  readonly state: StudyState;
  readonly attempts: number;
  readonly failure: Failure | null;
  readonly plan: GraphPlan | null;
  readonly requestedAt: Millis;
  readonly appliedAt: Millis | null;
}

/** A study that could not be made, and whose it is. */
export interface ParkedStudy extends Pick<StudyView, 'consolidationId' | 'attempts' | 'requestedAt'> {
  readonly scope: Scope;
  readonly failure: Failure | null;
}

export type StudyClaim =
  | { readonly kind: 'claimed'; readonly study: Study }
  /** Somebody else studies this lane; or the first one waits after a failure. */
  | { readonly kind: 'later'; readonly at: Millis }
  | { readonly kind: 'none' };

/** What changes the graph at once: new entities, then statements in their order. */
export interface GraphChange {
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
  readonly now: Millis;
}

/** Relations around entities. */
export interface Around {
  /** Ids of entities that stand for themselves. */
  readonly entities: readonly string[];
  /** null: what holds now; a time: what held then; 'ever': all that counts. */
  readonly at: Millis | null | 'ever';
  /** The most confirmed and newest come first. */
  readonly limit: number;
}

/** A relation or an entity to be projected, as it was when it was read. */
export type GraphItem =
  | { readonly kind: 'entity'; readonly entity: Entity }
  | { readonly kind: 'relation'; readonly relation: KeptRelation };

export interface ProjectedItem {
  readonly kind: GraphItem['kind'];
  readonly id: string;
  readonly revision: number;
}

/** The graph of an owner: statements, and what follows from them. Every write folds what it touches in its own transaction. */
export interface GraphStore extends HeldStore<Study> {
  /** The lane's first pending study whose consolidation counts. Held for `holdMs` against others; a later claim fences it. */
  claim(lane: LaneId, how: { now: Millis; holdMs: number }): Promise<StudyClaim>;
  /** The plan with all it changes, applied, and the lane given free: one transaction. */
  apply(study: Study, plan: GraphPlan, now: Millis): Promise<{ readonly kind: 'applied' } | Fenced>;
  /** Lanes with a study that may be claimed, oldest first. */
  due(now: Millis, limit: number): Promise<readonly LaneId[]>;
  study(tenant: TenantId, consolidationId: string): Promise<StudyView | null>;
  /**
   * A study for an applied consolidation that has none, or another try of a parked one. Answers with its lane; null: there
   * is no such consolidation, or nothing to do.
   */
  request(tenant: TenantId, consolidationId: string, now: Millis): Promise<LaneId | null>;
  /** The newest first. */
  parked(tenant: TenantId, limit: number): Promise<readonly ParkedStudy[]>;
  /** How many studies wait and are parked, of all tenants, those of shadow spaces left out: for metrics. */
  counts(): Promise<Readonly<Record<'pending' | 'parked', number>>>;

  /**
   * Explicit statements: all or nothing. What is there already under its id stays as it is. A conflict: the lane is not of
   * this tenant, or is being erased.
   */
  write(tenant: TenantId, lane: LaneId, change: GraphChange): Promise<{ readonly kind: 'written' | 'conflict' }>;
  /** How many explicit statements that count were recorded after a time: a rollback to it takes them back. */
  writtenAfter(lane: LaneId, after: Millis): Promise<number>;

  /** Existing ones of these ids, any order, merged and uncounted ones too. */
  entities(tenant: TenantId, ids: readonly string[]): Promise<readonly Entity[]>;
  /**
   * The ones that count, stand for themselves, and have one of these names, by normaliseText; names of what was merged into
   * them are among their aliases.
   */
  named(lane: LaneId, names: readonly string[]): Promise<readonly Entity[]>;
  /** The owner's own entity. */
  self(lane: LaneId): Promise<Entity | null>;
  /** What counts and stands for itself, by normalised name. `like`, normalised, is looked for in names and aliases. */
  listEntities(tenant: TenantId, owner: Owner, filter: { like?: string }, page: Page): Promise<Paged<Entity>>;
  relation(tenant: TenantId, id: string): Promise<KeptRelation | null>;
  /** Existing ones of these ids, each once, any order, those that count no longer too. */
  relations(tenant: TenantId, ids: readonly string[]): Promise<readonly KeptRelation[]>;
  around(lane: LaneId, around: Around): Promise<readonly KeptRelation[]>;
  /** Of an owner, those that began first come first. */
  listRelations(
    tenant: TenantId,
    owner: Owner,
    filter: { at: Millis | null | 'ever'; relationship?: string },
    page: Page,
  ): Promise<Paged<KeptRelation>>;
  /** All statements that name these ends (any entity merged into them too), in the order they were said, with whether each counts. */
  statements(
    lane: LaneId,
    about: { readonly entities: readonly string[] },
  ): Promise<readonly { readonly statement: Statement; readonly counts: boolean }[]>;
  /**
   * Pairs that studies found to be alike and nobody has decided on: they are one by now, or one of them was said to stand
   * apart since.
   */
  proposals(tenant: TenantId, owner: Owner): Promise<readonly OpenProposal[]>;

  /**
   * What is not projected yet, oldest change first. After a refill: all that counts. Without lanes that are set
   * aside.
   */
  unprojected(limit: number): Promise<readonly GraphItem[]>;
  unprojectedOf(lane: LaneId, limit: number): Promise<readonly GraphItem[]>;
  projected(of: readonly ProjectedItem[]): Promise<void>;
  /** The index was lost: everything that counts is unprojected again. Returns how much. */
  refill(): Promise<number>;
  /** All relations (or entities) of all tenants that count and stand for themselves, in id order: for the doctor. */
  every(kind: GraphItem['kind'], after: string | null, limit: number): Promise<readonly GraphItem[]>;
}
