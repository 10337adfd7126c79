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

/** What to do about batches that are parked for a reason. A code that is not known here is one of a later release. */
export const remedyOf = (code: string): string =>
  Object.hasOwn(REMEDIES, code) ? REMEDIES[code as EngineErrorCode] : REMEDIES.internal;

const MODEL_AWAY = 'Check that the model server is running and has capacity. Then replay.';
const BY_ITSELF = 'This is temporary. Replay.';

const REMEDIES: Readonly<Record<EngineErrorCode, string>> = {
  model_unreachable: MODEL_AWAY,
  model_server_error: MODEL_AWAY,
  model_timeout:
    'Increase SLOWWAVE_MODEL_TIMEOUT_MS, or lower SLOWWAVE_PART_TOKENS so that the model reads less at a time. Then replay.',
  model_overloaded: 'Set SLOWWAVE_RPM and SLOWWAVE_TPM to what the provider allows. Then replay.',
  model_rejected:
    'The model rejects these messages, often because of a content filter. Use another model, or try one in a what-if. Then replay.',
  model_misconfigured:
    'Correct the key, the name or the address of the model; slowwave models check shows which one is wrong. Then replay.',
  model_output_unusable:
    'The model does not answer in the requested format. Raise its output limit, turn off its reasoning, or use another model. Then replay.',
  context_too_long:
    'Configure a larger context window for the model, or lower SLOWWAVE_PART_TOKENS so that it reads smaller parts. Then replay.',
  rate_limited: BY_ITSELF,
  circuit_open: MODEL_AWAY,
  waits_for_batch:
    'Nothing: the provider answers within a day. A live message of the owner, or SLOWWAVE_CHAT_BATCHES=off, takes it out of the batch job.',
  budget_exhausted: 'Raise the budget in the settings, or wait for the next day (UTC). Then replay.',
  run_budget_exhausted: 'Run the suite again with a higher budget.',
  use_held: 'Wait for the next day (UTC), or release the hold with slowwave holds release. Then replay.',
  index_unavailable: 'Make sure that the index is running. Then replay.',
  ledger_unavailable: 'Make sure that the database of the ledger is running. Then replay.',
  queue_unavailable: 'Make sure that the queue is running. Then replay.',
  unsupported_content:
    'The messages contain something that cannot be read, such as images without an image model. Configure one, then replay.',
  cancelled: BY_ITSELF,
  overtaken: BY_ITSELF,
  canary_halted: BY_ITSELF,
  gate_not_passed:
    'Run the suite of the gate with the current models, or configure models that have passed it. Then it continues automatically.',
  owner_away: 'Nothing: the owner moved, and its work continues there.',
  owner_asleep: BY_ITSELF,
  segment_unavailable:
    'Check SLOWWAVE_COLD_STORE and its server; slowwave doctor says which segments are missing. Then replay.',
  internal:
    'This is an unexpected error: the log of the worker has its cause. Replay, and report it if it fails again.',
};
