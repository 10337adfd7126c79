import type { EngineDeps } from './deps.ts';
import type { Destination } from './ports/ledger/owners-away.ts';
import type { Cancellation } from './ports/tools.ts';
import type { Owner } from './words.ts';

/** Codes of failures that can end in a batch's `error`. */
export type EngineErrorCode =
  | 'model_unreachable'
  | 'model_timeout'
  | 'model_overloaded'
  | 'model_server_error'
  | 'model_rejected'
  | 'rate_limited'
  | 'circuit_open'
  | 'budget_exhausted'
  | 'run_budget_exhausted'
  | 'use_held'
  | 'waits_for_batch'
  | 'model_misconfigured'
  | 'model_output_unusable'
  | 'context_too_long'
  | 'index_unavailable'
  | 'ledger_unavailable'
  | 'queue_unavailable'
  | 'unsupported_content'
  | 'cancelled'
  | 'overtaken'
  | 'owner_asleep'
  | 'segment_unavailable'
  | 'canary_halted'
  | 'gate_not_passed'
  | 'owner_away'
  | 'internal';

interface Facts {
  readonly code: EngineErrorCode;
  /** Whether the same work may succeed later without anybody changing anything. Decided where the fact is known. */
  readonly retryable: boolean;
  /** The other side said when to come back. */
  readonly retryAfterMs?: number;
  /** false: nobody's fault, only too early. The work waits and no try is counted against it. */
  readonly countsAsTry?: boolean;
  /** About how many tokens a model had written before it failed: they are paid for. */
  readonly written?: number;
  /** Which model failed, where it is not the one whose name the work knows. */
  readonly model?: string;
  /** Whether a model may have read what it was asked, and be paid for it, where the code alone does not say. */
  readonly read?: boolean;
  /** Where the owner is instead. */
  readonly away?: Destination;
  readonly cause?: unknown;
}

/** The provider answered with an error, and asks no money for it. */
const UNREAD: readonly EngineErrorCode[] = [
  'model_overloaded',
  'model_server_error',
  'model_rejected',
  'model_misconfigured',
  'context_too_long',
  'unsupported_content',
];

/** Every failure of a step or a port. Messages say what was expected, what was got, what to do. */
export class EngineError extends Error {
  readonly code: EngineErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;
  readonly countsAsTry: boolean;
  readonly written: number;
  readonly model: string | null;
  readonly read: boolean;
  readonly away: Destination | null;

  constructor(message: string, facts: Facts) {
    super(message, { cause: facts.cause });
    this.name = 'EngineError';
    this.code = facts.code;
    this.retryable = facts.retryable;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.countsAsTry = facts.countsAsTry ?? true;
    this.written = facts.written ?? 0;
    this.model = facts.model ?? null;
    this.read = facts.read ?? !UNREAD.includes(facts.code);
    this.away = facts.away ?? null;
  }
}

/** Nothing of an owner can be written here that is somewhere else. */
export function ownerAway(owner: Owner, to: Destination): EngineError {
  const where = to.cell === null ? 'another cell' : `the cell ${to.cell}`;
  const what = `${owner.kind} ${JSON.stringify(owner.id)} is in ${where}`;
  return new EngineError(what, { code: 'owner_away', retryable: true, away: to });
}

/** A turn that lost its lane to a later claim: it must stop and write nothing. */
export class FencedError extends Error {
  constructor(consolidationId: string) {
    super(`consolidation ${consolidationId} was claimed by another worker; this one stops`);
    this.name = 'FencedError';
  }
}

/** Raised before anybody was asked: no call of a model was made. */
const UNASKED: readonly EngineErrorCode[] = [
  'rate_limited',
  'circuit_open',
  'budget_exhausted',
  'run_budget_exhausted',
  'use_held',
  'waits_for_batch',
  'gate_not_passed',
  'queue_unavailable',
  'ledger_unavailable',
];

/**
 * Whether a model was really asked when this came of it. A worker that stops is no fault of the model's; a call that
 * used up the time of its work is.
 */
export function wasAsked(error: unknown, cancel: Cancellation): boolean {
  if (error instanceof FencedError) return false;
  if (!(error instanceof EngineError)) return true;
  if (error.code === 'cancelled') return cancel.reason instanceof EngineError;
  return !UNASKED.includes(error.code);
}

/** Anything thrown, as an EngineError; unknown failures are worth another try. */
export function asEngineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new EngineError(message, { code: 'internal', retryable: true, cause: thrown });
}

/** Doubles with every try; lanes that failed together come back apart. What the provider asked for goes first. */
export function retryDelay(
  { settings, tools }: Pick<EngineDeps, 'settings' | 'tools'>,
  attempts: number,
  { retryAfterMs }: Pick<EngineError, 'retryAfterMs'>,
): number {
  const doubled = Math.min(settings.retryDelayMs * 2 ** attempts, settings.retryDelayMaxMs);
  const spread = Number.parseInt(tools.hash(tools.id('aud')).slice(0, 4), 16) / 0xffff;
  return Math.max(retryAfterMs ?? 0, Math.round(doubled * (0.5 + spread / 2)));
}
