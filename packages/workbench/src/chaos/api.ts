import { setTimeout as sleep } from 'node:timers/promises';

/** An answer, or nothing: the server was away, or did not answer in time. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const TIMEOUT_MS = 15_000;
const AGAIN_MS = 100;
/** No fault lasts as long. */
const PATIENCE_MS = 120_000;
const PAGE = 200; // the most a list gives at once

/** One request; null when nobody knows what became of it. */
export async function attempt(method: string, url: string, given: Request = {}): Promise<Answer | null> {
  const { body, headers } = given;
  try {
    const response = await fetch(url, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: await response.json() };
  } catch {
    return null;
  }
}

interface Request {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks until there is an answer that is none of "later": as a client that must not lose anything does. */
export async function insist(method: string, url: string, given: Request = {}): Promise<Answer> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await attempt(method, url, given);
    if (answer !== null && answer.status < 500 && answer.status !== 429) return answer;
    if (Date.now() > deadline) throw new Error(`${method} ${url}: ${JSON.stringify(answer)} for ${PATIENCE_MS} ms`);
    await sleep(AGAIN_MS);
  }
}

/** A busy machine takes its time over every search for so long at most. */
const WHOLE_WITHIN_MS = 30_000;

/** Searches until nothing is left out because it came late. What is left out for longer than that is missing. */
export async function searchAll(base: string, body: object): Promise<Answer> {
  for (const deadline = Date.now() + WHOLE_WITHIN_MS; ; await sleep(AGAIN_MS)) {
    const answer = await insist('POST', `${base}/v1/search`, { body });
    const isWhole = (answer.body as { degraded?: unknown } | null)?.degraded === undefined;
    if (isWhole || Date.now() > deadline) return answer;
  }
}

/** Reads what must be there. */
export async function read<T>(url: string): Promise<T> {
  const { status, body } = await insist('GET', url);
  if (status !== 200) throw new Error(`GET ${url} was answered ${status}: ${JSON.stringify(body)}`);
  return body as T;
}

/** All pages of a list. */
export async function readAll<T>(url: string): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<T> = await read(`${url}${url.includes('?') ? '&' : '?'}limit=${PAGE}${cursor}`);
    found.push(...page.results);
    cursor = page.next_cursor === null ? null : `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  return found;
}

interface Page<T> {
  readonly results: readonly T[];
  readonly next_cursor: string | null;
}
