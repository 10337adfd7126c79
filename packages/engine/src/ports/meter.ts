import type { EngineErrorCode } from '../errors.ts';
import type { FiguresOfModel } from '../figures/figures.ts';
import type { Attack } from '../messages/attacks.ts';
import type { FactOutcome } from '../plan.ts';
import type { Millis, TenantId } from '../words.ts';
import type { Turn } from './ledger/lanes.ts';
import type { Cause } from './ledger/usage.ts';
import type { TokenUse } from './models.ts';

/** What a measured thing belongs to: ids only. */
export type TurnIds = Pick<Turn, 'consolidationId' | 'epoch' | 'lane' | 'batchIds' | 'attempts'>;

export interface Measured {
  readonly startedAt: Millis;
  readonly endedAt: Millis;
}

export interface MeasuredStep extends Measured {
  readonly step: string;
  readonly failed: boolean;
}

/** One call that a model was really asked. */
export interface MeasuredCall extends Measured {
  /** What it was asked for, e.g. extract_facts. */
  readonly kind: string;
  readonly model: string;
  /** null: counted to nobody. */
  readonly cause: Cause | null;
  /** null: answered. */
  readonly failure: EngineErrorCode | 'unknown' | null;
  readonly usage: TokenUse;
  /** In the currency of the tenant's prices; 0 where the model has no price. */
  readonly cost: number;
}

/** How one try to consolidate ended. `waits`: only too early, no try was counted. */
export type TurnOutcome = 'applied' | 'waits' | 'given_back' | 'retry' | 'split' | 'parked' | 'fenced';

export interface MeasuredTurn extends Measured {
  readonly outcome: TurnOutcome;
  /** What it failed of or waits for; null where it did neither. */
  readonly reason: EngineErrorCode | null;
}

/** A batch that was just made durable. */
export interface Acknowledged extends Measured {
  readonly batchId: string;
  /** The same request came before: its batch was there already. */
  readonly repeated: boolean;
  /** The W3C trace context the request came with. */
  readonly traceparent: string | null;
  /** Its messages that claim to be said later than it was accepted. */
  readonly fromTheFuture: number;
}

/** A review that was settled, a consolidation that was undone, a rating, the outcome of an answer. */
export type OpinionKind = 'review' | 'undo' | 'rating' | 'outcome';
export type OpinionGiven = 'for' | 'against';

/**
 * Learns what the engine did, for metrics and traces: ids, counts and times, never contents. It never throws, and
 * nobody waits for it.
 */
export interface Meter {
  step(turn: TurnIds, step: MeasuredStep): void;
  /** `turn` is null for calls outside of a consolidation, such as those for summaries. */
  call(turn: TurnIds | null, call: MeasuredCall): void;
  turn(turn: TurnIds, end: MeasuredTurn): void;
  /** How the facts of an applied plan ended. */
  facts(outcomes: readonly FactOutcome[]): void;
  /** What messages of an applied plan tried that address the model. */
  attacks(kinds: readonly Attack[]): void;
  /** What was measured of an applied plan. Never of a shadow space. */
  figures(tenant: TenantId, measured: FiguresOfModel): void;
  /** What somebody, or an outcome, said of what is remembered. */
  opinions(tenant: TenantId, kind: OpinionKind, given: readonly OpinionGiven[]): void;
  /** How long batches took from their acceptance to the search, one figure per batch. */
  searchable(waited: readonly Millis[]): void;
}

/** Measures nothing. */
export const silentMeter: Meter = {
  step: () => {},
  call: () => {},
  turn: () => {},
  facts: () => {},
  attacks: () => {},
  figures: () => {},
  opinions: () => {},
  searchable: () => {},
};
