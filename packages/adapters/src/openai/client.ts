import { type Cancellation, EngineError, type Log } from '@slowwave/engine';
import OpenAI, { APIConnectionTimeoutError } from 'openai';
import { type Longest, patientFetch } from '../system/patient-fetch.ts';
import {
  breakdown,
  type Complaint,
  cancelled,
  complaintIn,
  complaintOf,
  OPENAI_SETTINGS,
  outOfList,
  type SettingNames,
  timedOut,
  unreadable,
  withoutSecrets,
} from './failure.ts';
import { throughMessages } from './messages.ts';

const OPENAI_URL = 'https://api.openai.com/v1';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';
const NO_KEY = 'none'; // the library insists on a key; servers that need none ignore it

/** What a server speaks: chat completions, or Anthropic's Messages API. */
type ChatApi = 'openai' | 'anthropic';

/** Whether answers are sent while they are written. */
type Streaming = 'auto' | 'on' | 'off';

/** Where the model is. */
export interface OpenaiOptions {
  /** null for servers that need none. */
  readonly apiKey: string | null;
  /** null for OpenAI's own, or Anthropic's. */
  readonly baseUrl: string | null;
  readonly model: string;
  /** For one request, until its last byte. */
  readonly timeoutMs: number;
  readonly log: Log;
  /** Missing: openai. */
  readonly api?: ChatApi;
  /** Of an answer, in tokens. null: no limit; missing: one that follows from the question. Embedders ignore it. */
  readonly maxOutputTokens?: number | null;
  /** Whether answers are sent while they are written. auto: where the server takes that, and counts tokens then, too. Missing: off. */
  readonly stream?: Streaming;
  /** Within this time a model that has begun to write goes on, where its answer is streamed. Missing: within that of the request. */
  readonly idleTimeoutMs?: number;
  /** Goes out with each request, over what is sent anyway. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /** The settings that say where it is, for what is said when they are wrong. */
  readonly settings?: SettingNames;
}

/** A model of a server, as error messages name it. */
export interface Place {
  readonly baseUrl: string;
  readonly model: string;
  readonly timeoutMs: number;
  /** What no error repeats. */
  readonly secrets: readonly string[];
  /** A key goes out with each request, or a header that may hold one. */
  readonly hasKey: boolean;
  readonly settings: SettingNames;
}

export interface Connection {
  readonly client: OpenAI;
  readonly place: Place;
}

/** A client that takes keys and addresses from us alone, writes nothing to the console and leaves retrying to us. */
export function connect(options: OpenaiOptions): Connection {
  const { model, timeoutMs, settings = OPENAI_SETTINGS, extraHeaders = {}, extraBody = {}, api = 'openai' } = options;
  const apiKey = options.apiKey?.trim() || null;
  const baseUrl = options.baseUrl ?? (api === 'anthropic' ? ANTHROPIC_URL : OPENAI_URL);
  if (!/^https?:$/u.test(URL.parse(baseUrl)?.protocol ?? '')) throw notAUrl(baseUrl, settings);
  if (apiKey !== null && !/^[!-~]+$/u.test(apiKey)) throw notAKey(settings);
  const client = new OpenAI({
    apiKey: apiKey ?? NO_KEY,
    baseURL: baseUrl,
    timeout: timeoutMs,
    maxRetries: 0,
    logLevel: 'off',
    fetch: api === 'anthropic' ? throughMessages(fetchWithPlainErrors()) : fetchWithPlainErrors(),
    defaultHeaders: extraHeaders,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
  });
  const secrets = [apiKey ?? '', ...Object.values(extraHeaders), ...secretsIn(extraBody)].flatMap(wordsOf);
  const hasKey = apiKey !== null || Object.keys(extraHeaders).length > 0;
  return { client, place: { baseUrl, model, timeoutMs, secrets, hasKey, settings } };
}

/** Of a value of several words, such as "Bearer …", each: a server quotes what it likes. */
const wordsOf = (value: string): readonly string[] => value.split(/\s+/u);

/** Gateways take keys in the body as well; its other texts, such as "low", have to stay readable in what servers say. */
const SECRET_NAME = /key|token|secret|password|credential|auth/iu;

/** The texts that stand under the name of a secret. */
function secretsIn(value: unknown, isSecret = false): readonly string[] {
  if (typeof value === 'string') return isSecret ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => secretsIn(one, isSecret || SECRET_NAME.test(name)));
}

function notAUrl(baseUrl: string, settings: SettingNames): EngineError {
  const message = `expected the model's base URL to look like http://host:port/v1, got "${baseUrl}"; correct ${settings.baseUrl}`;
  return new EngineError(message, { code: 'model_misconfigured', retryable: false });
}

/** Says nothing of the key itself; what the library says of such a key quotes it. */
function notAKey(settings: SettingNames): EngineError {
  const message = `expected the model's API key to be one word of ASCII characters, got other characters; correct ${settings.apiKey}`;
  return new EngineError(message, { code: 'model_misconfigured', retryable: false });
}

/** What came back: a body, or what the server says instead of one. */
type Outcome = { readonly body: object } | { readonly complaint: Complaint };

interface Turn {
  readonly place: Place;
  readonly cancel: Cancellation;
  /** How many tokens of the answer have come. Missing: it comes in one piece. */
  readonly written?: () => number;
}

/**
 * One request, ended by its answer, its timeout or its cancellation, whichever is first. Throws EngineError when the
 * server did not answer at all.
 */
export async function exchange(
  { place, cancel, written }: Turn,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<Outcome> {
  if (cancel.aborted) throw cancelled();
  const abort = new AbortController();
  const hangUp = (): void => abort.abort();
  // The library's own timeout ends with the headers of an error; this one covers every byte.
  const timer = setTimeout(hangUp, place.timeoutMs);
  cancel.addEventListener('abort', hangUp, { once: true });
  try {
    return outcomeOf(await send(abort.signal), place);
  } catch (thrown) {
    if (cancel.aborted) throw cancelled(thrown, written?.());
    if (abort.signal.aborted || thrown instanceof APIConnectionTimeoutError) throw timedOut(place, thrown, written?.());
    const complaint = complaintOf(thrown);
    if (complaint === null) throw breakdown(thrown, place);
    return { complaint: withoutSecrets(complaint, place.secrets) };
  } finally {
    clearTimeout(timer);
    cancel.removeEventListener('abort', hangUp);
  }
}

function outcomeOf(body: unknown, place: Place): Outcome {
  if (typeof body !== 'object' || body === null) {
    throw unreadable(typeof body === 'string' ? 'text that is not JSON' : 'an empty body', place);
  }
  const complaint = complaintIn(body);
  return complaint === null ? { body } : { complaint: withoutSecrets(complaint, place.secrets) };
}

/**
 * fetch of at most so many bytes, but every refusal carries its explanation where OpenAI puts it. Other servers send `{message}`, `{detail}` or
 * plain text, of which the library would keep nothing.
 */
export const fetchWithPlainErrors =
  (longest?: Longest): typeof fetch =>
  async (url, init) => {
    const response = await patientFetch(url, init, longest);
    if (response.ok) return response;
    const { status, headers } = response;
    return new Response(JSON.stringify({ error: errorIn(await beginningOf(response)) }), {
      status,
      headers: plain(headers),
    });
  };

/** An explanation is a sentence; what is longer is a page, of which the beginning says as much. */
const EXPLANATION_BYTES_MAX = 64 * 1024;

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= EXPLANATION_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function errorIn(text: string): unknown {
  const body = outOfList(parsed(text));
  if (typeof body !== 'object' || body === null) return { message: text };
  if ('error' in body) return typeof body.error === 'string' ? { message: body.error } : body.error;
  return 'detail' in body ? { message: body.detail } : body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The headers without those that described the body as it was sent. */
function plain(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name);
  kept.set('content-type', 'application/json');
  return kept;
}
