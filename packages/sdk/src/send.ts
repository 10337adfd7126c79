import type { Operations } from './api.ts';
import { errorOf, SlowwaveError } from './errors.ts';
import type { CallOptions, Settings } from './options.ts';
import { pauseBefore } from './pause.ts';

type Name = keyof Operations;
type Part<K extends Name, P extends string> = P extends keyof Operations[K]
  ? { readonly [Q in P]: Operations[K][P] }
  : unknown;

/** What an operation takes: parts of its path, its query, its body. */
export type Given<K extends Name> = Part<K, 'params'> & Part<K, 'body'> & OptionalQuery<K> & Extra;
type OptionalQuery<K extends Name> = Operations[K] extends { query?: infer Q } ? { readonly query?: Q } : unknown;

interface Extra {
  /** Makes a post that was sent twice count once. */
  readonly idempotencyKey?: string | undefined;
  /** How long the server itself was asked to wait, in ms: the timeout begins after that. */
  readonly waitMs?: number | undefined;
  /** A post that changes nothing, and may be sent again. */
  readonly readsOnly?: boolean | undefined;
}

export type Send = <K extends Name>(
  name: K,
  given: Given<K>,
  options?: CallOptions,
) => Promise<Operations[K]['answer']>;

/** Sends operations as JSON, again where that is safe and may help. */
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

export interface Call {
  readonly name: string;
  readonly given: Loose;
  readonly options: CallOptions;
}

/** The answer to a call, once it is a success; its body is still to be read. */
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

/** A request that was not carried out may always be sent again; else only one that counts once however often it comes. */
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
