import type { EngineErrorCode } from './errors.ts';

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
