import type { LaneId, Message, TenantId } from '../../words.ts';
import type { SummaryRefresh } from '../schedule.ts';
import type { Turn } from './lanes.ts';
import type { ModelCall } from './thoughts.ts';

/** What a refresh starts from. */
export interface SummaryBasis {
  /** The summary so far; null where there is none, or it was forgotten. */
  readonly summary: string | null;
  /**
   * What was said since, oldest first: consolidated messages, each once, at most the newest `limit`. Messages behind
   * memories that are deleted by now are left out, unless they asked for the deletion.
   */
  readonly messages: readonly Message[];
  /** The sequence of the last consolidated message, which the new summary will cover. */
  readonly upTo: number;
  /** Goes up with every change of the summary: a refresh holds only for the one it read. */
  readonly revision: number;
}

export interface RefreshedSummary {
  readonly summary: string | null;
  readonly upTo: number;
  /** Of the basis. */
  readonly revision: number;
}

/** Whom a call is counted to: a lane, or all of a tenant's owners together who have none. */
export type Account = { readonly lane: LaneId } | { readonly strangersOf: TenantId };

/** One model call that belongs to no consolidation: for a summary, a preview, a question. */
export interface SummaryCall extends ModelCall {
  readonly failed: boolean;
}

/**
 * The rolling summary of a scope: what later messages need to be understood. A consolidation reads the one that stood
 * when its window was pinned, so that a retry asks its model the same question.
 */
export interface SummaryStore {
  /** The refresh of the turn's scope, when `every` messages were consolidated that its summary does not cover. */
  due(turn: Turn, every: number): Promise<SummaryRefresh | null>;
  /** null: none is due any more. */
  read(refresh: SummaryRefresh, how: { every: number; limit: number }): Promise<SummaryBasis | null>;
  /** Stored only where the summary still is what it was read as: of two refreshes at once the first one counts. */
  store(refresh: SummaryRefresh, refreshed: RefreshedSummary): Promise<{ readonly kind: 'stored' | 'overtaken' }>;
  countCall(account: Account, call: SummaryCall): Promise<void>;
  /** What a lane's summaries tell may no longer hold: they go, and are made anew from the messages. Deletions do the same. */
  forget(lane: LaneId): Promise<void>;
}
