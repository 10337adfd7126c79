import {
  QdrantClientResourceExhaustedError,
  QdrantClientTimeoutError,
  QdrantClientUnexpectedResponseError,
} from '@qdrant/js-client-rest';
import { EngineError } from '@slowwave/engine';

/** What a failed call to the server was. */
export interface Refusal {
  /** null: no answer came. */
  readonly status: number | null;
  readonly detail: string;
}

/** For answers that are none: somebody between here and the server speaks for it. */
const BAD_GATEWAY = 502;

/** What the client threw, in two facts; null for what has nothing to do with the server. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof QdrantClientResourceExhaustedError) return { status: 429, detail: error.message };
  if (error instanceof QdrantClientTimeoutError) return { status: null, detail: 'no answer in time' };
  if (error instanceof QdrantClientUnexpectedResponseError) return { status: BAD_GATEWAY, detail: error.message };
  if (error instanceof SyntaxError) return { status: BAD_GATEWAY, detail: 'an answer that is not JSON' };
  if (!(error instanceof Error)) return null;
  if ('status' in error && typeof error.status === 'number') return { status: error.status, detail: detailOf(error) };
  // The platform's fetch says only that it failed; why is in its cause.
  if (error instanceof TypeError) return { status: null, detail: causeOf(error) };
  return null;
}

/** Anything thrown by a call, as the engine knows it. */
export function asIndexError(error: unknown, place: string): EngineError {
  if (error instanceof EngineError) return error;
  const refusal = refusalOf(error);
  if (refusal !== null) return refused(refusal, place, error);
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError(`the index on Qdrant failed: ${message}`, {
    code: 'internal',
    retryable: false,
    cause: error,
  });
}

function refused({ status, detail }: Refusal, place: string, cause: unknown): EngineError {
  const { message, retryable } = explain(status, detail, place);
  return new EngineError(message, { code: 'index_unavailable', retryable, cause });
}

interface Explained {
  readonly message: string;
  readonly retryable: boolean;
}

function explain(status: number | null, detail: string, place: string): Explained {
  if (status === null) {
    const message = `expected Qdrant at ${place} to answer, got: ${detail}; check that it is running and can be reached from here`;
    return { message, retryable: true };
  }
  if (isBusy(status)) {
    const message = `expected Qdrant at ${place} to process the request, got HTTP ${status}: ${detail}; it will be retried`;
    return { message, retryable: true };
  }
  if (status === 401 || (status === 403 && /api key|token|access|forbidden/i.test(detail))) {
    const message = `expected Qdrant at ${place} to accept the key, got HTTP ${status}: ${detail}; correct QDRANT_API_KEY`;
    return { message, retryable: false };
  }
  return explainRequest(status, detail, place);
}

/** The server is there and well, and says that the request does not fit what it holds. */
function explainRequest(status: number, detail: string, place: string): Explained {
  if (status === 404 && /doesn't exist|not found/i.test(detail)) {
    const message = `expected the index on Qdrant at ${place}, got: ${detail}; restart the worker, which rebuilds it from the ledger`;
    return { message, retryable: true };
  }
  if (/vector name/i.test(detail)) {
    const message = `expected the index at ${place} to be built with this embedding model, got one of another model (${detail}); restart with the settings it was built with, or rebuild it`;
    return { message, retryable: true };
  }
  if (/dimension/i.test(detail)) {
    const message = `expected vectors of the index's dimensions at ${place}, got others (${detail}); check SLOWWAVE_EMBEDDING_DIMENSIONS or rebuild the index`;
    return { message, retryable: false };
  }
  if (/index required/i.test(detail)) {
    const message = `expected every filter field to be indexed at ${place}, got: ${detail}; restart the process, which creates missing indexes`;
    return { message, retryable: false };
  }
  return {
    message: `expected Qdrant at ${place} to accept the request, got HTTP ${status}: ${detail}`,
    retryable: false,
  };
}

/** Answers of a server, or of a proxy before it, that has too much to do or is just starting. */
export const isBusy = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Servers explain themselves in JSON; proxies in pages, of which the status has to do. */
function detailOf(error: Error & { readonly data?: unknown; readonly statusText?: unknown }): string {
  const status = (error.data as { status?: { error?: unknown } } | null | undefined)?.status?.error;
  if (typeof status === 'string') return status;
  const text = typeof error.data === 'string' && !error.data.includes('<') ? error.data.trim() : '';
  return (text || String(error.statusText ?? '') || error.message).slice(0, DETAIL_CHARACTERS);
}

const DETAIL_CHARACTERS = 300;

function causeOf({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  const code = 'code' in cause ? String(cause.code) : '';
  const inner = cause instanceof AggregateError ? cause.errors.map(String).join(', ') : cause.message;
  return [code, inner].filter(Boolean).join(' ') || message;
}
