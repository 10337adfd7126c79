import { ERROR_STATUS, type ErrorCode } from '@slowwave/contracts';
import { PARAM_MAX } from './params.ts';
import { ProblemError, problem } from './problem.ts';

/** Seconds a caller is asked to wait when a dependency is away. */
const RETRY_AFTER_S = '2';

/** Anything thrown, as what the caller is told. What happened inside is for the log. */
export function translate(thrown: unknown): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const { name, code, statusCode } = factsOf(thrown);
  if (name === 'InvalidCursorError') return problem('invalid_cursor', messageOf(thrown), { cause: thrown });
  if (name === 'FilterError') return ofFilter(thrown);
  if (name === 'EngineError') return ofEngine(code, thrown);
  return ofFramework(code, statusCode, thrown);
}

/** Says its place, what was expected there and what was got. */
function ofFilter(thrown: unknown): ProblemError {
  const { path, expected, got } = thrown as Readonly<Record<'path' | 'expected' | 'got', string>>;
  const errors = [{ path, message: `expected ${expected}, got ${got}` }];
  return problem('invalid_request', `the filter is not valid: ${messageOf(thrown)}`, { errors, cause: thrown });
}

const UNAVAILABLE: Readonly<Record<string, string>> = {
  ledger_unavailable: 'the ledger is temporarily unavailable; nothing was changed, retry',
  queue_unavailable: 'the queue is temporarily unavailable; retry',
  index_unavailable: 'the index is temporarily unavailable; retry',
  cancelled: 'the service is shutting down; retry',
};

function ofEngine(code: string, cause: unknown): ProblemError {
  const away = UNAVAILABLE[code];
  if (away !== undefined) return problem('unavailable', away, { cause, headers: { 'retry-after': RETRY_AFTER_S } });
  if (code === 'unsupported_content') return problem('unsupported_content', messageOf(cause), { cause });
  if (code === 'budget_exhausted') return ofBudget(cause);
  if (code.startsWith('model_') || NOT_ASKED.includes(code)) {
    const detail = `the model did not return a usable answer (${code}); retry, or check the model configuration and the log`;
    return problem('model_unavailable', detail, { cause, headers: { 'retry-after': RETRY_AFTER_S } });
  }
  return internal(cause);
}

/** The model could not be asked just now, or never with so much. */
const NOT_ASKED = ['context_too_long', 'rate_limited', 'circuit_open'];

/** 402 and not 429: clients wait out a 429, and a day is too long for that. */
function ofBudget(cause: unknown): ProblemError {
  const { retryAfterMs } = cause as { readonly retryAfterMs: number | null };
  const headers = { 'retry-after': String(Math.ceil((retryAfterMs ?? 0) / 1_000)) };
  return problem('budget_exhausted', messageOf(cause), { cause, headers });
}

const FRAMEWORK: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_json', 'the body is not valid JSON; send one JSON object, encoded as UTF-8'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'the body is too large; send it in smaller parts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'expected a JSON body with the header content-type: application/json, got another content type or none',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'the length of the body does not match its content-length header; send the whole body',
  ],
  FST_ERR_MAX_PARAM_LENGTH: [
    'invalid_request',
    `expected at most ${PARAM_MAX} characters in each part of the path, got more; check the id`,
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'the URL is not valid: % must be followed by two hexadecimal digits'],
};

function ofFramework(code: string, status: number, cause: unknown): ProblemError {
  const known = FRAMEWORK[code];
  if (known !== undefined) return problem(known[0], known[1], { cause });
  if (status >= 400 && status < 500) return problem(codeOf(status), messageOf(cause), { cause });
  return internal(cause);
}

const internal = (cause: unknown): ProblemError =>
  problem('internal', 'internal error; look for the x-request-id of this response in the log', { cause });

function codeOf(status: number): ErrorCode {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  return codes.find((code) => ERROR_STATUS[code] === status) ?? 'invalid_request';
}

function factsOf(thrown: unknown): { name: string; code: string; statusCode: number } {
  if (!(thrown instanceof Error)) return { name: '', code: '', statusCode: 0 };
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown };
  return { name: thrown.name, code: String(code ?? ''), statusCode: Number(statusCode ?? 0) };
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
