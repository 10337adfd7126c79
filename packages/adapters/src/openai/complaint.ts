import { APIError } from 'openai';

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
  if (!(thrown instanceof APIError) || typeof thrown.status !== 'number') return null;
  const { status, headers, error } = thrown;
  return { ...read(error ?? {}), status, retryAfterMs: retryAfterMs(headers ?? new Headers()), cause: thrown };
}

/** The complaint in the body of a success, as gateways send it; null when there is none. */
export function complaintIn(body: object): Complaint | null {
  const { error, object } = body as { error?: unknown; object?: unknown };
  if (object !== 'error' && (error === undefined || error === null)) return null;
  const wire = error ?? body;
  return {
    ...read(typeof wire === 'object' ? wire : { message: wire }),
    status: 200,
    retryAfterMs: null,
    cause: undefined,
  };
}

/** The server sends whoever asks elsewhere, which nobody follows: the key and what was said would go with it. */
export const isRedirect = ({ status }: Complaint): boolean => status >= 300 && status < 400;

/** Whether the server complains about this field of the request, or about what it stands for. */
export function complainsAbout(complaint: Complaint, topic: RegExp): boolean {
  const final = complaint.status <= 501 && !isRedirect(complaint) && !PASSING.has(complaint.status);
  return final && (topic.test(complaint.param) || topic.test(complaint.text));
}

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

/** Shorter than this it may be the server's own words, which happen to stand in what it was sent. */
const QUOTE_MIN = 12;
/** What stands between quotation marks is quoted, however short. */
const IN_MARKS = /(?<=["'`“‘「])[^"'`”’」]{3,}(?=["'`”’」])/gu;
const LEFT_OUT = '…';

/**
 * A complaint without what it quotes of the texts it was sent: it is told in logs, where nothing is that people have said.
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
