import { EngineError, type EngineErrorCode } from '@slowwave/engine';
import { APIConnectionError } from 'openai';
import type { Place } from './client.ts';
import { type Complaint, isRedirect, unquoted } from './complaint.ts';

const TOO_LONG =
  /context.?length|context.?(window|size)|maximum (context|input|sequence)|too many tokens|(prompt|input) (is )?too (long|large)|reduce the length/iu;
const FILTERED = /content.?(filter|policy|management)/iu;
const NO_MODEL = /model.{0,80}(not exist|not found|not available|unknown)|unknown model|invalid model/iu;
const NO_MONEY = /insufficient.?(quota|balance|funds|credit)|billing|exceeded your current quota/iu;

/** Nobody's input is at fault, and only a person can mend it: all work waits, and looks again this often. */
export const MISCONFIGURED = {
  code: 'model_misconfigured',
  retryable: true,
  countsAsTry: false,
  retryAfterMs: 30_000,
} as const;

/** Decides what a server's complaint about what it was sent means for the work at hand. */
export function rejection(complaint: Complaint, place: Place, sent: readonly string[]): EngineError {
  const { code, retryable, advice } = verdictOn(complaint);
  const { text, cause } = unquoted(complaint, sent);
  const where = `${place.baseUrl} (model ${place.model})`;
  const said = text === '' ? 'no explanation' : `"${withoutSecret(text, place.secret)}"`;
  const message = `expected an answer from ${where}, got status ${complaint.status} and ${said}; ${advice}`;
  const later = complaint.retryAfterMs === null ? {} : { retryAfterMs: complaint.retryAfterMs };
  const waits = code === 'model_misconfigured' ? MISCONFIGURED : {};
  return new EngineError(message, { code, retryable, cause, ...waits, ...(retryable ? later : {}) });
}

/** What it means that no answer came at all. */
export function breakdown(thrown: unknown, place: Place): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const detail = rootOf(thrown);
  const lost = thrown instanceof APIConnectionError ? 'no connection' : 'a broken connection';
  // What breaks a connection is a cause below; without one the library could not read the body.
  const broken = thrown instanceof APIConnectionError || (thrown instanceof Error && thrown.cause instanceof Error);
  if (!broken) return unreadable(`a body that cannot be read (${detail})`, place, thrown);
  const message = `expected an answer from ${place.baseUrl}, got ${lost} (${detail}); check that the server is running and OPENAI_BASE_URL is correct`;
  return new EngineError(message, { code: 'model_unreachable', retryable: true, cause: thrown });
}

/** A success whose body is none. */
export function unreadable(got: string, place: Place, cause?: unknown): EngineError {
  const message = `expected an OpenAI-compatible answer from ${place.baseUrl} (model ${place.model}), got ${got}; check OPENAI_BASE_URL if this persists`;
  return new EngineError(message, { code: 'model_server_error', retryable: true, cause });
}

export function timedOut(place: Place, cause: unknown): EngineError {
  const message = `expected an answer from ${place.baseUrl} (model ${place.model}) within ${place.timeoutMs} ms, got none; it will be retried later; a slow model needs a longer timeout`;
  return new EngineError(message, { code: 'model_timeout', retryable: true, cause });
}

export function cancelled(cause?: unknown): EngineError {
  const message = 'the model call was cancelled before it was answered; it will be repeated when the work resumes';
  return new EngineError(message, { code: 'cancelled', retryable: true, cause });
}

interface Verdict {
  readonly code: EngineErrorCode;
  readonly retryable: boolean;
  readonly advice: string;
}

const TOO_LONG_VERDICT: Verdict = {
  code: 'context_too_long',
  retryable: false,
  advice: 'send the model less at once, or use one with a longer context',
};

function verdictOn(complaint: Complaint): Verdict {
  const { status, code, text } = complaint;
  const about = `${code} ${text}`;
  if (isRedirect(complaint))
    return misconfigured('redirects are not followed; set OPENAI_BASE_URL to the final address');
  const final = [200, 400, 413, 422, 500].includes(status);
  if (status === 413 || (final && TOO_LONG.test(about))) return TOO_LONG_VERDICT;
  if (status < 500 && FILTERED.test(about))
    return verdict('model_rejected', false, 'its content filter rejects this input');
  if (status === 400 && NO_MODEL.test(about)) return misconfigured('correct the name of the model');
  return verdictOnStatus(status, about);
}

function verdictOnStatus(status: number, about: string): Verdict {
  if (status === 200) return verdict('model_rejected', true, 'it will be retried');
  if (status === 402 || (status === 429 && NO_MONEY.test(about))) {
    return verdict(
      'model_overloaded',
      true,
      'the account has no credit left; top it up (it will be retried until then)',
    );
  }
  if (status === 401 || status === 403) return misconfigured('correct OPENAI_API_KEY or its permissions');
  if (status === 404 || status === 405) return misconfigured('correct OPENAI_BASE_URL or the name of the model');
  if (status === 408) return verdict('model_timeout', true, 'it will be retried');
  if (status === 429) return verdict('model_overloaded', true, 'it will be retried when the server allows it');
  if (status >= 500 || status === 409 || status === 425)
    return verdict('model_server_error', true, 'it will be retried');
  return verdict('model_rejected', false, 'the server rejects this request; retrying would not help');
}

function misconfigured(what: string): Verdict {
  return verdict('model_misconfigured', true, `${what}; until then the work waits`);
}

function verdict(code: EngineErrorCode, retryable: boolean, advice: string): Verdict {
  return { code, retryable, advice };
}

/** Some servers quote the key they refuse. */
function withoutSecret(text: string, secret: string | null): string {
  return secret === null || secret === '' ? text : text.replaceAll(secret, '[key]');
}

/** The message at the bottom of a chain of causes: there stands ECONNREFUSED, at the top only "fetch failed". */
function rootOf(thrown: unknown): string {
  let root = thrown;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  if (!(root instanceof Error)) return String(root);
  const code = 'code' in root && typeof root.code === 'string' ? root.code : '';
  return code === '' || root.message.includes(code) ? root.message : `${code} ${root.message}`.trim();
}
