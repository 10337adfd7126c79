import type { Operations, Page } from './api.ts';
import { errorOf, SlowwaveError } from './errors.ts';

type Name = keyof Operations;
type Part<K extends Name, P extends string> = P extends keyof Operations[K]
  ? { readonly [Q in P]: Operations[K][P] }
  : unknown;

/** The input of an operation: path parameters, query and body. */
export type Given<K extends Name> = Part<K, 'params'> & Part<K, 'body'> & OptionalQuery<K> & Extra;
type OptionalQuery<K extends Name> = Operations[K] extends { query?: infer Q } ? { readonly query?: Q } : unknown;

interface Extra {
  /** Makes a repeated request count once. */
  readonly idempotencyKey?: string | undefined;
  /** How long the server is asked to wait, in ms; added to the timeout. */
  readonly waitMs?: number | undefined;
  /** A POST that can be repeated safely. */
  readonly readsOnly?: boolean | undefined;
}

export type Send = <K extends Name>(
  name: K,
  given: Given<K>,
  options?: CallOptions,
) => Promise<Operations[K]['answer']>;

/** Sends operations as JSON, with retries if they are safe and may help. */
export function sender(settings: Settings): Send {
  return async (name, given, options) => {
    const answer = await open(settings, { name, given: given as Loose, options: options ?? {} });
    return (await answer.json()) as Operations[typeof name]['answer'];
  };
}

interface Loose extends Extra {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

interface Call {
  readonly name: string;
  readonly given: Loose;
  readonly options: CallOptions;
}

/** The successful response to a call, with its body unread. */
export async function open(settings: Settings, call: Call): Promise<Response> {
  const retries = call.options.retries ?? settings.retries;
  for (let tried = 0; ; tried += 1) {
    const came = await once(settings, call);
    if (came instanceof Response && came.ok) return came;
    const error = came instanceof Response ? await errorOf(came) : came;
    const last = tried >= retries || !error.retryable || !mayRepeat(call, error);
    if (last || call.options.signal?.aborted === true) throw error;
    await pauseBefore(tried, { answer: came instanceof Response ? came : null, signal: call.options.signal });
  }
}

/** A request that was not executed can always be repeated; any other only if repeating it is safe. */
function mayRepeat({ name, given }: Call, { status }: SlowwaveError): boolean {
  if (status === 429) return true;
  const isPost = name.startsWith('POST ');
  return !isPost || given.readsOnly === true || given.idempotencyKey !== undefined;
}

async function once(settings: Settings, { name, given, options }: Call): Promise<Response | SlowwaveError> {
  const [method = 'GET', path = '/'] = name.split(' ');
  const timeoutMs = (options.timeoutMs ?? settings.timeoutMs) + (given.waitMs ?? 0);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const url = `${settings.base}${filled(path, given.params)}${queryText(given.query)}`;
  const body = given.body === undefined ? {} : { body: JSON.stringify(given.body) };
  try {
    return await settings.fetch(url, { method, headers: headersOf(settings, given), signal, ...body });
  } catch (cause) {
    if (options.signal?.aborted === true) throw cause;
    return notAnswered(cause, { url: settings.base, timedOut: timeout.aborted, timeoutMs });
  }
}

const headersOf = ({ headers }: Settings, { body, idempotencyKey }: Loose): Record<string, string> => ({
  ...headers,
  accept: 'application/json',
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
});

const filled = (path: string, params: Loose['params'] = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

function queryText(query: Loose['query'] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

function notAnswered(cause: unknown, of: { url: string; timedOut: boolean; timeoutMs: number }): SlowwaveError {
  const { url, timedOut, timeoutMs } = of;
  const message = timedOut
    ? `expected an answer from ${url} within ${timeoutMs} ms, got none; try again, or give timeoutMs`
    : `expected Slowwave at ${url}, could not reach it; check that it is running and the URL is correct`;
  return new SlowwaveError(message, {
    status: null,
    code: timedOut ? 'timeout' : 'no_answer',
    errors: [],
    retryable: true,
    requestId: null,
    cause,
  });
}

/** The first pause between two attempts, in ms; each further one is twice as long, up to a limit. */
const FIRST_MS = 200;
const LONGEST_MS = 20_000;
/** The longest pause that a server can request. */
const ASKED_MAX_MS = 60_000;

interface Pause {
  /** The response; null: none. */
  readonly answer: Response | null;
  readonly signal?: AbortSignal | undefined;
}

/** Waits before the next attempt: as long as the server says, else with exponential backoff and jitter. */
async function pauseBefore(tried: number, { answer, signal }: Pause): Promise<void> {
  const asked = answer === null ? null : askedMs(answer.headers.get('retry-after'));
  const own = Math.min(LONGEST_MS, FIRST_MS * 2 ** tried);
  await sleep(asked ?? own * (0.5 + Math.random() / 2), signal);
}

/** Seconds, or a date. */
function askedMs(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000;
  return Number.isNaN(ms) ? null : Math.min(ASKED_MAX_MS, Math.max(0, ms));
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A new idempotency key. Works on pages without https, too. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export interface SlowwaveOptions {
  /** Where Slowwave is, e.g. http://localhost:7070. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** How long one try may take, in ms (30,000). A wait for a batch comes on top. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is retried if that is safe (3). */
  readonly retries?: number | undefined;
  /** Another fetch, e.g. one that goes through a proxy. */
  readonly fetch?: typeof fetch | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

export interface Settings {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: typeof fetch;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 3;

/** The options with defaults. Throws a TypeError for an invalid url. */
export function settingsOf({ url, apiKey, timeoutMs, retries, headers, ...given }: SlowwaveOptions): Settings {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new TypeError(`expected url to be like http://localhost:7070, got ${JSON.stringify(url)}`);
  }
  return {
    base: url.replace(/\/+$/, ''),
    headers: { ...headers, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    retries: retries ?? RETRIES,
    // Not as a method: browsers refuse a fetch that belongs to another object.
    fetch: given.fetch ?? ((input, init) => fetch(input, init)),
  };
}

/** All items of a list; pages are requested when they are needed. */
export async function* everyPage<T>(page: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void> {
  let cursor: string | undefined;
  do {
    const { results, next_cursor } = await page(cursor);
    yield* results;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** The values of a body with one JSON value a line, as they arrive. */
export async function* everyLine<T>(answer: Response): AsyncGenerator<T, void> {
  if (answer.body === null) return;
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
      if (done) return;
    }
  } finally {
    // Readers that stop early need no more of it.
    await reader.cancel();
  }
}
