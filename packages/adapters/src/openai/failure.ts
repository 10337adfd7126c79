import { EngineError, type EngineErrorCode } from '@slowwave/engine';
import { APIConnectionError, APIError } from 'openai';
import { MISCONFIGURED, ROOM_ADVICE } from '../conventions.ts';
import type { Place } from './client.ts';

const TOO_LONG = new RegExp(
  [
    'context.?length|context.?(?:window|size)|exceed_context_size|maximum (?:context|input|sequence|prompt|model).?(?:length|len)?',
    'too many (?:input )?tokens|(?:prompt|input|request) (?:is )?too (?:long|large)|reduce the length|maximum number of tokens',
    'longer than the maximum|tokens? . `?max_new_tokens`? must be|`?inputs`? must have less than|exceeding max \\d+ tokens',
    'input length \\d+ exceeds|too large for model with',
  ].join('|'),
  'iu',
);
/** Of limits on answers this speaks of what was asked as well. */
const ABOUT_ROOM = /context.?length|model.?len|inputs?`? tokens|in the messages|prompt/iu;
const BAD_KEY =
  /api.?key.{0,40}(?:not valid|invalid|expired|not found|missing)|(?:invalid|incorrect|missing|expired|no).{0,20}api.?key|authentication/iu;
/** The server has thrown away what the model wrote. */
const FAILED_ANSWER =
  /json_validate_failed|failed to (?:generate|validate) json|tool_use_failed|failed to call a function/iu;
const FILTERED = /content.?(filter|policy|management)/iu;
const NO_MODEL = /model.{0,80}(not.exist|not.found|not available|unknown)|unknown model|invalid model/iu;
const NO_MONEY = /insufficient.?(quota|balance|funds|credit)|billing|exceeded your current quota/iu;
/** Anthropic says so with the status of a bad request. */
const NO_CREDIT = /credit balance is too low/iu;

/** The settings that say where a model is. */
export interface SettingNames {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

export const OPENAI_SETTINGS: SettingNames = {
  baseUrl: 'OPENAI_BASE_URL',
  apiKey: 'OPENAI_API_KEY',
  model: 'the name of the model',
};

/** Decides what a server's complaint about what it was sent means for the work at hand. */
export function rejection(complaint: Complaint, place: Place, sent: readonly string[]): EngineError {
  const { code, retryable, advice } = verdictOn(complaint, place);
  const { text, cause } = unquoted(complaint, sent);
  const where = `${place.baseUrl} (model ${place.model})`;
  const said = text === '' ? 'no explanation' : `"${text}"`;
  const message = `expected an answer from ${where}, got status ${complaint.status} and ${said}; ${advice}`;
  const later = complaint.retryAfterMs === null ? {} : { retryAfterMs: complaint.retryAfterMs };
  const waits = code === 'model_misconfigured' ? MISCONFIGURED : {};
  return new EngineError(message, { code, retryable, cause, ...waits, ...(retryable ? later : {}) });
}

/** What it means that no answer came at all. */
export function breakdown(thrown: unknown, place: Place): EngineError {
  if (thrown instanceof EngineError) return thrown;
  // The error quotes the body: it may be what people have said.
  if (thrown instanceof SyntaxError) return unreadable('a body that is not JSON', place);
  const detail = rootOf(thrown);
  const lost = thrown instanceof APIConnectionError ? 'no connection' : 'a broken connection';
  // What breaks a connection is a cause below; without one the library could not read the body.
  const broken = thrown instanceof APIConnectionError || (thrown instanceof Error && thrown.cause instanceof Error);
  if (!broken) return unreadable(`a body that cannot be read (${detail})`, place, thrown);
  const message = `expected an answer from ${place.baseUrl}, got ${lost} (${detail}); check that the server is running and ${place.settings.baseUrl} is correct`;
  return new EngineError(message, {
    code: 'model_unreachable',
    retryable: true,
    cause: thrown,
    read: !NO_ONE_THERE.test(detail),
  });
}

/** No connection came about: nothing was sent. */
const NO_ONE_THERE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT/u;

/** A success whose body is none. */
export function unreadable(got: string, place: Place, cause?: unknown): EngineError {
  const message = `expected an OpenAI-compatible answer from ${place.baseUrl} (model ${place.model}), got ${got}; check ${place.settings.baseUrl} if this persists`;
  return new EngineError(message, { code: 'model_server_error', retryable: true, cause, read: true });
}

export const isUnreadable = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.code === 'model_server_error';

/** The same, as if the server had refused to stream. */
export const inStream = (unreadable: EngineError): Complaint => ({
  ...{ status: 200, code: '', param: 'stream', retryAfterMs: null },
  text: unreadable.message,
  cause: unreadable,
});

/** `written`: how many tokens of the answer had come, if any. */
export function timedOut(place: Place, cause: unknown, written = 0): EngineError {
  const got = written === 0 ? 'none' : `only about the first ${written} tokens of it`;
  const message = `expected an answer from ${place.baseUrl} (model ${place.model}) within ${place.timeoutMs} ms, got ${got}; it will be retried later; a slow model needs a longer SLOWWAVE_MODEL_TIMEOUT_MS`;
  return new EngineError(message, { code: 'model_timeout', retryable: true, cause, written });
}

/** It had begun to write, and went on no more. */
export function stalled(
  place: Place,
  { idleTimeoutMs, written }: { idleTimeoutMs: number; written: number },
): EngineError {
  const message =
    `expected ${place.baseUrl} (model ${place.model}) to continue its answer within ${idleTimeoutMs} ms, got nothing more after about ${written} tokens; ` +
    'it will be retried later; check whether the server hangs. A model that pauses for longer needs a longer SLOWWAVE_CHAT_IDLE_TIMEOUT_MS';
  return new EngineError(message, { code: 'model_timeout', retryable: true, written });
}

export function cancelled(cause?: unknown, written = 0): EngineError {
  const message = 'the model call was cancelled before it was answered; it will be repeated when the work resumes';
  return new EngineError(message, { code: 'cancelled', retryable: true, cause, written });
}

interface Verdict {
  readonly code: EngineErrorCode;
  readonly retryable: boolean;
  readonly advice: string;
}

const TOO_LONG_VERDICT: Verdict = {
  code: 'context_too_long',
  retryable: false,
  advice: ROOM_ADVICE,
};

const FAILED_ANSWER_VERDICT: Verdict = {
  code: 'model_output_unusable',
  retryable: true,
  advice:
    'the model did not write the JSON it was asked for; it will be asked once more. If this persists, use another model',
};

/** Whether the model has failed, and not who asked it. */
export const isFailedAnswer = ({ code, text }: Complaint): boolean => FAILED_ANSWER.test(`${code} ${text}`);

/** Whether there is no room for a question, or none for it and its answer. */
export const isTooLong = (complaint: Complaint): boolean => verdictOn(complaint) === TOO_LONG_VERDICT;

/** Whether the window of the model is full, not the answer too long for it. */
export const isAboutRoom = ({ text }: Complaint): boolean => ABOUT_ROOM.test(text);

/** Whether a server may have taken exception to the form that is asked for, and does not say so. */
export const isUnexplained = (complaint: Complaint): boolean =>
  [400, 422].includes(complaint.status) &&
  verdictOn(complaint).code === 'model_rejected' &&
  !FILTERED.test(complaint.text);

type Asked = Pick<Place, 'settings' | 'hasKey'>;

function verdictOn(complaint: Complaint, asked: Asked = { settings: OPENAI_SETTINGS, hasKey: true }): Verdict {
  const { status, code, text } = complaint;
  const { settings } = asked;
  const about = `${code} ${text}`;
  if (isRedirect(complaint))
    return misconfigured(`redirects are not followed; set ${settings.baseUrl} to the final address`);
  const final = [200, 400, 413, 422, 500].includes(status);
  if (status === 413 || (final && TOO_LONG.test(about))) return TOO_LONG_VERDICT;
  if (status < 500 && isFailedAnswer(complaint)) return FAILED_ANSWER_VERDICT;
  if (status < 500 && FILTERED.test(about))
    return verdict('model_rejected', false, 'its content filter rejects this input');
  if ((status === 400 || status === 422) && BAD_KEY.test(about)) return misconfigured(keyAdvice(asked));
  if ((status === 400 || status === 404) && NO_MODEL.test(about)) return misconfigured(`correct ${settings.model}`);
  return verdictOnStatus(status, about, asked);
}

function verdictOnStatus(status: number, about: string, asked: Asked): Verdict {
  const { settings } = asked;
  if (status === 200) return verdict('model_rejected', true, 'it will be retried');
  if (status === 402 || (status === 429 && NO_MONEY.test(about)) || (status === 400 && NO_CREDIT.test(about))) {
    return verdict(
      'model_overloaded',
      true,
      'the account has no credit left; top it up (it will be retried until then)',
    );
  }
  if (status === 401 || status === 403) return misconfigured(keyAdvice(asked));
  if (status === 404 || status === 405) return misconfigured(`correct ${settings.baseUrl} or ${settings.model}`);
  if (status === 408 || status === 504) return verdict('model_timeout', true, 'it will be retried');
  if (status === 429) return verdict('model_overloaded', true, 'it will be retried when the server allows it');
  if (status >= 500 || status === 409 || status === 425)
    return verdict('model_server_error', true, 'it will be retried');
  return verdict('model_rejected', false, 'the server rejects this request; retrying would not help');
}

const keyAdvice = ({ settings, hasKey }: Asked): string =>
  hasKey ? `correct ${settings.apiKey} or its permissions` : `no key was sent, so set ${settings.apiKey}`;

function misconfigured(what: string): Verdict {
  return verdict('model_misconfigured', true, `${what}; until then the work waits`);
}

function verdict(code: EngineErrorCode, retryable: boolean, advice: string): Verdict {
  return { code, retryable, advice };
}

/** The message at the bottom of a chain of causes: there stands ECONNREFUSED, at the top only "fetch failed". */
function rootOf(thrown: unknown): string {
  let root = thrown;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  if (!(root instanceof Error)) return String(root);
  const code = 'code' in root && typeof root.code === 'string' ? root.code : '';
  return code === '' || root.message.includes(code) ? root.message : `${code} ${root.message}`.trim();
}

const TEXT_MAX = 500; // characters of a server's message that are kept: enough to understand, too little to quote a prompt
const PASSING = new Set([401, 402, 403, 408, 429]); // about the caller or the moment, whatever they mention

/** What a server says instead of an answer. */
export interface Complaint {
  /** The HTTP status; 200 for an error in the body of a success. */
  readonly status: number;
  readonly code: string;
  readonly param: string;
  readonly text: string;
  readonly retryAfterMs: number | null;
  readonly cause: unknown;
}

interface WireError {
  readonly code?: unknown;
  readonly type?: unknown;
  readonly param?: unknown;
  readonly message?: unknown;
}

/** The complaint behind an error of the library; null when no server spoke. */
export function complaintOf(thrown: unknown): Complaint | null {
  if (!(thrown instanceof APIError)) return null;
  const { headers, error } = thrown;
  // In the middle of a stream there is no other status than that of its beginning.
  const status: unknown = thrown.status ?? (error === undefined ? null : 200);
  if (typeof status !== 'number') return null;
  return { ...readAny(error ?? {}), status, retryAfterMs: retryAfterMs(headers ?? new Headers()), cause: thrown };
}

/** The complaint in the body of a success, as gateways send it; null when there is none. */
export function complaintIn(body: object): Complaint | null {
  const { error, object } = outOfList(body) as { error?: unknown; object?: unknown };
  if (object !== 'error' && (error === undefined || error === null)) return null;
  const wire = error ?? body;
  return {
    ...readAny(wire),
    status: 200,
    retryAfterMs: null,
    cause: undefined,
  };
}

/** Google sends its errors as a list of one. */
export const outOfList = (body: unknown): unknown => (Array.isArray(body) && body.length > 0 ? body[0] : body);

/** The server sends whoever asks elsewhere, which nobody follows: the key and what was said would go with it. */
const isRedirect = ({ status }: Complaint): boolean => status >= 300 && status < 400;

/** Whether the server complains about this field of the request, or about what it stands for. */
export function complainsAbout(complaint: Complaint, topic: RegExp): boolean {
  const final = complaint.status <= 501 && !isRedirect(complaint) && !PASSING.has(complaint.status);
  return final && (topic.test(complaint.param) || topic.test(complaint.text));
}

const readAny = (wire: unknown): ReturnType<typeof read> =>
  read(typeof wire === 'object' && wire !== null ? wire : { message: wire });

function read({ code, type, param, message }: WireError): Pick<Complaint, 'code' | 'param' | 'text'> {
  return { code: asText(code ?? type), param: asText(param), text: asText(message).slice(0, TEXT_MAX) };
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** How long the server wants us to stay away; null when it does not say. */
function retryAfterMs(headers: Headers): number | null {
  const exact = headers.get('retry-after-ms');
  if (exact !== null && isNumber(exact)) return wholeMs(Number(exact));
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (isNumber(value)) return wholeMs(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : wholeMs(date - Date.now());
}

function isNumber(value: string): boolean {
  return value.trim() !== '' && Number.isFinite(Number(value));
}

function wholeMs(ms: number): number {
  return Math.max(0, Math.ceil(ms));
}

/** What is shorter is a dummy, like "none" or "ollama", and stands in other words. */
const SECRET_MIN = 8;

/** A complaint without the keys that some servers quote. The error of the library behind it quotes the same. */
export function withoutSecrets(complaint: Complaint, secrets: readonly string[]): Complaint {
  const text = secrets
    .filter(({ length }) => length >= SECRET_MIN)
    .reduce((masked, secret) => masked.replaceAll(secret, '[key]'), complaint.text);
  return text === complaint.text ? complaint : { ...complaint, text, cause: undefined };
}

/** Shorter than this it may be the server's own words, which happen to stand in what it was sent. */
const QUOTE_MIN = 12;
/** What stands between quotation marks is quoted, however short. */
const IN_MARKS = /(?<=["'`“‘「])[^"'`”’」]{3,}(?=["'`”’」])/gu;
const LEFT_OUT = '…';

/**
 * A complaint without what it quotes of the texts it was sent: it is written to logs, where nothing is that people have said.
 * The error of the library behind it quotes the same.
 */
export function unquoted(complaint: Complaint, sent: readonly string[]): Complaint {
  const all = sent.join('\n');
  const marked = complaint.text.replace(IN_MARKS, (words) => (all.includes(words) ? LEFT_OUT : words));
  const text = withoutRuns(marked, all);
  return text === complaint.text ? complaint : { ...complaint, text, cause: undefined };
}

/** Complaints are cut to a few hundred characters: looking each of them up takes no time that matters on this way. */
function withoutRuns(text: string, sent: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const length = runAt(text, at, sent);
    kept += length === 0 ? text.charAt(at) : LEFT_OUT;
    at += Math.max(1, length);
  }
  return kept;
}

/** How many characters from here on stand in what was sent; 0: too few to be a quote. */
function runAt(text: string, from: number, sent: string): number {
  let length = QUOTE_MIN;
  if (from + length > text.length || !sent.includes(text.slice(from, from + length))) return 0;
  while (from + length < text.length && sent.includes(text.slice(from, from + length + 1))) length += 1;
  return length;
}
