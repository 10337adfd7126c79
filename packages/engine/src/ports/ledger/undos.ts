import type { LaneId, MemoryEvent, Millis, Owner, TenantId } from '../../words.ts';
import type { MemoryChange, Tombstone } from './memories.ts';
import type { Page, Paged } from './page.ts';

/**
 * What was taken back at once, kept for ever. An undo counts unless one that counts itself takes it back; a
 * consolidation is undone while an undo that counts takes it back. (Of marks of a memory the same is true.)
 */
export interface Undo {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  /** 1 for the first undo of a lane, without gaps. */
  readonly number: number;
  /** undo: of consolidations; rollback: to a time; redo: of an undo or a rollback. */
  readonly kind: 'undo' | 'rollback' | 'redo';
  /** Of a rollback: the time it leads back to. */
  readonly to: Millis | null;
  readonly consolidations: readonly string[];
  /** Earlier undos. */
  readonly undos: readonly string[];
  /** How many memories it changed. */
  readonly memories: number;
  readonly at: Millis;
}

/** Everything an undo changes. */
export interface Undoing {
  readonly undo: Undo;
  readonly changes: readonly MemoryChange[];
  /** All that block for the changed memories from now on; other ones of theirs go. */
  readonly tombstones: readonly Tombstone[];
  /** Consolidations that are undone by it, and those that count again. Their batches and reviews go with them. */
  readonly undone: readonly string[];
  readonly redone: readonly string[];
}

export type Undone =
  | { readonly kind: 'written' }
  /** Something else was changed in between: nothing was written. */
  | { readonly kind: 'conflict' };

/** Memories something happened to. */
export type Touched =
  | { readonly consolidations: readonly string[] }
  | { readonly undo: string }
  | { readonly lane: LaneId; readonly after: Millis };

export interface UndoStore {
  get(tenant: TenantId, id: string): Promise<Undo | null>;
  list(tenant: TenantId, filter: { userId?: string }, page: Page): Promise<Paged<Undo>>;
  /** All of a lane, oldest first. */
  ofLane(lane: LaneId): Promise<readonly Undo[]>;
  /** The ids of memories that have an event of these consolidations, of an undo, or recorded in a lane after a time. */
  touched(tenant: TenantId, by: Touched): Promise<readonly string[]>;
  /** All events of these memories, each memory's in its order. */
  events(tenant: TenantId, memoryIds: readonly string[]): Promise<readonly MemoryEvent[]>;
  /** Consolidations of a lane that were applied after a time, undone ones included, in the order of applying. */
  appliedAfter(lane: LaneId, after: Millis): Promise<readonly string[]>;
  /**
   * One transaction: events, versions, tombstones, outbox, the states of consolidations, batches and pending reviews,
   * and the lane's summaries are forgotten. A conflict where a memory is not at the expected revision, the lane has
   * another undo of this number, or an undone consolidation has changed a memory that is not among the changes.
   */
  write(tenant: TenantId, undoing: Undoing): Promise<Undone>;
}
