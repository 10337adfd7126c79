import { type Cancellation, EngineError, type Log } from '@slowwave/engine';
import OpenAI, { APIConnectionTimeoutError } from 'openai';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
} from 'openai/resources/chat/completions';
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

/**
 * fetch for Anthropic's Messages API, asked for chat completions: requests and answers are put in the other's words, and all that
 * is known of refusals, limits and odd answers holds here, too. Its own compatible endpoint leaves out the schema of an answer and
 * caches no prompts (decision 0038).
 */
const throughMessages =
  (inner: typeof fetch): typeof fetch =>
  async (url, init) => {
    const asked = JSON.parse(String(init?.body)) as Asked;
    const response = await inner(messagesUrl(String(url)), {
      ...init,
      headers: headersOf(new Headers(init?.headers)),
      body: JSON.stringify(messagesRequest(asked)),
    });
    if (!response.ok) return response;
    const text = await response.text();
    const answer = messageIn(text);
    return new Response(answer === null ? text : JSON.stringify(completionOf(answer)), {
      status: response.status,
      headers: { 'content-type': 'application/json' },
    });
  };

/** What is asked for may hold fields of the operator's own, which go out as they are. */
type Asked = ChatCompletionCreateParamsNonStreaming & Readonly<Record<string, unknown>>;

const messagesUrl = (url: string): string => url.replace(/\/chat\/completions$/u, '/messages');

const VERSION = '2023-06-01';

function headersOf(headers: Headers): Headers {
  const key = headers.get('authorization')?.replace(/^Bearer /u, '');
  headers.delete('authorization');
  headers.delete('content-length');
  if (key !== undefined && !headers.has('x-api-key')) headers.set('x-api-key', key);
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', VERSION);
  return headers;
}

/** This API wants a limit. As much as each of its models can write. */
const OUTPUT_TOKENS = 8_192;

function messagesRequest(asked: Asked): object {
  const { messages, response_format: format, max_completion_tokens: limit, max_tokens, ...fields } = asked;
  const system = messages.flatMap(({ role, content }) =>
    role === 'system' && typeof content === 'string' ? [content] : [],
  );
  const others = messages.filter(({ role }) => role !== 'system');
  return {
    ...fields,
    max_tokens: limit ?? max_tokens ?? OUTPUT_TOKENS,
    // The instructions of one kind of question are the same for everybody: they are read from the cache.
    ...(system.length === 0
      ? {}
      : { system: [{ type: 'text', text: system.join('\n'), cache_control: { type: 'ephemeral' } }] }),
    messages: others.map(({ role, content }) => ({
      role,
      content: Array.isArray(content) ? (content as ChatCompletionContentPart[]).map(partOf) : content,
    })),
    ...(format?.type === 'json_schema'
      ? { output_config: { format: { type: 'json_schema', schema: format.json_schema.schema } } }
      : {}),
  };
}

function partOf(part: ChatCompletionContentPart): object {
  if (part.type !== 'image_url') return part;
  const { url } = part.image_url;
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/su.exec(url) ?? [];
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data };
  return { type: 'image', source };
}

/** A message of this API, as far as it is read: any field may be missing. */
interface Message {
  readonly model?: string;
  readonly content?: readonly { readonly type?: string; readonly text?: string; readonly thinking?: string }[];
  readonly stop_reason?: string | null;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

/** Why it stopped, in the other's words. What is not here has come to its end. */
const FINISHED: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

function completionOf(message: Message): object {
  const { model, content, stop_reason: reason, usage = {} } = message;
  if (!Array.isArray(content)) return message;
  const all = (type: 'text' | 'thinking'): string =>
    content.flatMap((block) => (block.type === type ? [block[type] ?? ''] : [])).join('');
  return {
    model,
    choices: [
      { message: { content: all('text'), thinking: all('thinking') }, finish_reason: FINISHED[reason ?? ''] ?? 'stop' },
    ],
    usage: {
      prompt_tokens: sumOf(usage, PROMPT),
      completion_tokens: sumOf(usage, ['output_tokens']),
      prompt_tokens_details: { cached_tokens: sumOf(usage, ['cache_read_input_tokens']) },
    },
  };
}

/** What is written to the cache, or read from it, was sent, too. */
const PROMPT = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

/** undefined: it was not counted. */
function sumOf(usage: Readonly<Record<string, unknown>>, names: readonly string[]): number | undefined {
  const counts = names.map((name) => usage[name]).filter((count) => typeof count === 'number');
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

function messageIn(text: string): Message | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : null;
  } catch {
    return null;
  }
}
