import type { Millis, Owner, TenantId } from '../words.ts';
import type { Undo } from './ledger/undos.ts';

/** A memory that does not hold what it held before; null: nothing. */
export interface Difference {
  readonly memoryId: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Something that came later and changed or confirmed a memory that would be taken back under it. */
export interface Dependent {
  readonly kind: 'consolidation' | 'write';
  /** Of the consolidation, or of the explicit write's event. */
  readonly id: string;
  readonly memoryIds: readonly string[];
}

/** What an undo has changed, or would change. */
export interface UndoReport {
  /** null: nothing was written. */
  readonly undo: Undo | null;
  readonly differences: readonly Difference[];
  /** Consolidations that are undone by it, and those that count again. */
  readonly undone: readonly string[];
  readonly redone: readonly string[];
  /** What is undone with it, since it came later and depends on it. */
  readonly dependents: readonly Dependent[];
}

export type UndoResult =
  | { readonly kind: 'done'; readonly report: UndoReport; readonly searchable: boolean }
  /** Nothing was changed: these would have to be undone with it. */
  | { readonly kind: 'dependents'; readonly dependents: readonly Dependent[] }
  | { readonly kind: 'not_found' }
  /** It is not in a state in which this can be done. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Nothing was changed: these memories would hold again what retention has removed. */
  | { readonly kind: 'removed'; readonly memoryIds: readonly string[] }
  /** Other changes kept coming in between. */
  | { readonly kind: 'conflict' };

/** Takes back what was done, by further events; nothing of the history goes. The index follows before the answer. */
export interface Undoer {
  /** One consolidation, with `cascade` also what depends on it. A dry run shows all of that, whatever `cascade` says. */
  undo(tenant: TenantId, consolidationId: string, how: { cascade: boolean; dryRun: boolean }): Promise<UndoResult>;
  /** Everything recorded of an owner after a time: of consolidations, explicit writes and undos. */
  rollback(tenant: TenantId, owner: Owner, how: { to: Millis; dryRun: boolean }): Promise<UndoResult>;
  /** An undo or a rollback, which then counts no longer. */
  redo(tenant: TenantId, undoId: string, how: { dryRun: boolean }): Promise<UndoResult>;
}
