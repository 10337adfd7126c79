import { type Call, isOffline } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import type * as LocalApi from './local-api.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How commands use the API: of a server, or of the same routes in this process over the stores themselves. */
export interface Asking {
  /** Returns the body of a successful answer, as the contracts describe it. Throws on any other. */
  ask<T>(method: Method, path: string, body?: object): Promise<T>;
  /** The body of any answer. Throws if there is none. */
  get(path: string): Promise<unknown>;
}

/** The API that a command line names. It is opened with the first question, so that wrong options are reported first. */
export function openApi(
  { given, config, cancel }: Pick<Call, 'given' | 'config' | 'cancel'>,
  writes: boolean,
): Asking & { close(): Promise<void> } {
  const server = { url: config.serverUrl ?? config.localUrl, apiKey: config.apiKey };
  let opened: Promise<Api> | null = null;
  const open = (): Promise<Api> =>
    isOffline({ given }) ? openLocal(config, { writes }) : Promise.resolve(serverApi(server, cancel));
  const ask = async (question: Question): Promise<Answer> => {
    opened ??= open();
    return (await opened).ask(question);
  };
  return {
    ask: async <T>(method: Method, path: string, body?: object) => {
      const answer = await ask({ method, path, ...(body !== undefined && { body }) });
      if (answer.status >= HTTP.badRequest) throw refusal(answer.status, answer.body);
      return answer.body as T;
    },
    get: async (path) => (await ask({ method: 'GET', path })).body,
    close: async () => (await opened)?.close(),
  };
}

/** Loaded only where it is used: it brings all of a server with it. */
async function openLocal(...given: Parameters<typeof LocalApi.localApi>): Promise<Api> {
  const { localApi } = await import('./local-api.ts');
  return localApi(...given);
}

const HTTP = { badRequest: 400, unauthorized: 401, forbidden: 403, notFound: 404, tooMany: 429, serverError: 500 };

interface Refusal {
  readonly code?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** What the server said, and what it means for whoever ran the command. */
function refusal(status: number, body: unknown): CommandError {
  const said: Refusal = typeof body === 'object' && body !== null ? body : {};
  const errors = (said.errors ?? []).map(({ path, message }) => `\n  - ${path}: ${message}`).join('');
  const what = said.detail ?? `the server answered with status ${status}`;
  return new CommandError(`${what}${errors}${hintFor(status, said)}`, exitCodeOf(status), said.code);
}

function hintFor(status: number, { code }: Refusal): string {
  if (status === HTTP.unauthorized || status === HTTP.forbidden) return '; set SLOWWAVE_API_KEY to a key of the server';
  if (code !== 'route_not_found') return '';
  return (
    '. If ingest, worker, search and console run separately, each has only its own routes: use the address of ' +
    'the proxy in front of them'
  );
}

function exitCodeOf(status: number): number {
  if (status === HTTP.notFound) return EXIT.notFound;
  return status === HTTP.tooMany || status > HTTP.serverError ? EXIT.unavailable : EXIT.failed;
}

/** The longest page of a list. */
const PAGE_MAX = 200;

interface Listed<Item> {
  readonly results: Item[];
  readonly next_cursor: string | null;
}

interface Wanted {
  readonly path: string;
  readonly query: Readonly<Record<string, string | null>>;
  readonly limit: number;
}

/** A list of the API, page by page, up to a limit; `more` if there are others. */
export async function listUpTo<Item>(
  { ask }: Asking,
  { path, query, limit }: Wanted,
): Promise<{ items: Item[]; more: boolean }> {
  const items: Item[] = [];
  for (let cursor: string | null = null; ; ) {
    const size = Math.min(PAGE_MAX, limit - items.length);
    const page: Listed<Item> = await ask('GET', withQuery(path, { ...query, limit: size, cursor }));
    items.push(...page.results);
    if (page.next_cursor === null || items.length >= limit) return { items, more: page.next_cursor !== null };
    cursor = page.next_cursor;
  }
}

/** A list of the API page by page, to its end. */
export async function* pagesOf<Page extends { readonly next_cursor: string | null }>(
  { ask }: Pick<Asking, 'ask'>,
  path: string,
  query: Readonly<Record<string, string | null>>,
): AsyncGenerator<Page> {
  for (let cursor: string | null = null; ; ) {
    const page: Page = await ask('GET', withQuery(path, { ...query, cursor }));
    yield page;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

/** A question to the HTTP API. */
interface Question {
  readonly method: Method;
  /** With its query, e.g. /v1/batches?state=parked */
  readonly path: string;
  readonly body?: object;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The API of a server, or the same routes in this process over the stores themselves. */
export interface Api {
  /** Returns any answer. Throws if there is none. */
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
}

/** A path with the parts of a query that are there. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null) given.set(name, String(value));
  return given.size === 0 ? path : `${path}?${given}`;
}

/** A route about the tenant that --tenant names. */
export const ofTenant = (path: string, { given }: Pick<Call, 'given'>): string =>
  withQuery(path, { tenant: given.text('tenant') });

/** Longer than any route takes that does not wait on purpose. */
const ANSWER_WITHIN_MS = 120_000;

/** The API of a server that runs. */
function serverApi({ url, apiKey }: { url: string; apiKey: string | null }, cancel: AbortSignal): Api {
  const base = url.replace(/\/+$/, '');
  return {
    ask: async ({ method, path, body }: Question): Promise<Answer> => {
      const headers = {
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const signal = AbortSignal.any([cancel, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
      const sent = { method, headers, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      try {
        const response = await fetch(`${base}${path}`, sent);
        return { status: response.status, body: bodyOf(await response.text()) };
      } catch (error) {
        throw unreachable(base, error);
      }
    },
    close: async () => {},
  };
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function unreachable(base: string, error: unknown): CommandError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const got = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new CommandError(
    `expected a Slowwave server at ${base} to answer, got: ${got}; set --server (SLOWWAVE_URL), ` +
      'or work directly on the ledger with --offline',
    EXIT.unavailable,
  );
}
