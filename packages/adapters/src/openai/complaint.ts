import { APIError } from 'openai';
import { retryAfterMs } from './retry-after.ts';

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
