import { EngineError } from '@slowwave/engine';

/** Nothing was changed, and trying again changes nothing: somebody has to do what the message says. */
export const refused = (message: string, cause?: unknown): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: false, cause });

/** Somebody else has the ledger; when they let go of it, it works. */
export const held = (message: string): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: true });
