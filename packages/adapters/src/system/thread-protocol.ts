import type { EngineErrorCode } from '@slowwave/engine';
import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';

export interface ThreadRequest {
  readonly id: number;
  readonly method: string;
  readonly args: unknown[];
}

export type ThreadMessage =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: FlatError }
  | { readonly kind: 'notice'; readonly notice: unknown };

/** An error as it crosses a thread: structured cloning drops classes and fields. */
export interface FlatError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | null;
  readonly retryable: boolean | null;
}

export function flattenError(thrown: unknown): FlatError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const retryable = error instanceof EngineError ? error.retryable : null;
  return { name: error.name, message: error.message, stack: error.stack, code, retryable };
}

export function reviveError(flat: FlatError): Error {
  if (flat.name === 'InvalidCursorError') return new InvalidCursorError();
  const cause = Object.assign(new Error(flat.message), { name: flat.name, stack: flat.stack, code: flat.code });
  if (flat.retryable === null) return cause;
  return new EngineError(flat.message, { code: flat.code as EngineErrorCode, retryable: flat.retryable, cause });
}
