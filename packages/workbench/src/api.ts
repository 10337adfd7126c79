import { setTimeout as sleep } from 'node:timers/promises';

/** The server's HTTP API, as far as it is needed here. */
export interface Api {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  /** All pages of a list. */
  all<T>(path: string): Promise<readonly T[]>;
}

/** The server cannot be reached, refuses, or does not come to an end. */
export class ServerError extends Error {}

const PAGE = 200; // the most a list gives at once
const TRIES = 20; // of a request that is asked to come back later
const AGAIN_MS = 250;

export function apiAt(url: string, apiKey: string | null): Api {
  const headers = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const ask = (path: string, init: RequestInit): Promise<unknown> =>
    request(`${url}${path}`, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } });
  const get = async <T>(path: string): Promise<T> => (await ask(path, {})) as T;
  const sent = (body: unknown, more: Readonly<Record<string, string>> = {}) => ({
    headers: { 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
  return {
    get,
    post: async <T>(path: string, body: unknown, more?: Readonly<Record<string, string>>) =>
      (await ask(path, { method: 'POST', ...sent(body, more) })) as T,
    patch: async <T>(path: string, body: unknown) => (await ask(path, { method: 'PATCH', ...sent(body) })) as T,
    put: async <T>(path: string, body: unknown) => (await ask(path, { method: 'PUT', ...sent(body) })) as T,
    all: async <T>(path: string) => {
      const found: T[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Page<T> = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}${cursor}`);
        found.push(...page.results);
        cursor = page.next_cursor === null ? null : `&cursor=${encodeURIComponent(page.next_cursor)}`;
      }
      return found;
    },
  };
}

interface Page<T> {
  readonly results: readonly T[];
  readonly next_cursor: string | null;
}

async function request(url: string, init: RequestInit): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    const response = await reach(url, init);
    if (response.ok) return response.json();
    const text = await response.text();
    const later = response.status === 429 || response.status === 503;
    if (!later || tries === TRIES) {
      throw new ServerError(`${init.method ?? 'GET'} ${url} was answered ${response.status}: ${text.slice(0, 500)}`);
    }
    await sleep(Number(response.headers.get('retry-after') ?? 0) * 1_000 || AGAIN_MS);
  }
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new ServerError(`${url} cannot be reached: ${cause}`);
  }
}

/** Does something to each, a few at a time; results in order. */
export async function each<T, R>(
  items: readonly T[],
  work: (item: T, i: number) => Promise<R>,
  atOnce = 8,
): Promise<readonly R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T, i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
