import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from './stage.ts';

/** What callers saw, while owners moved and processes were killed. */
export interface Seen {
  /** Posts that were acknowledged, by the owner: what each said. */
  readonly said: ReadonlyMap<string, readonly string[]>;
  readonly posts: number;
  readonly searches: number;
  /** Requests that were answered with 503 or not at all, and sent again. */
  readonly again: number;
  /** Searches that found nothing of an owner of whom something had been found before. */
  readonly empty: readonly string[];
  /** Answers that were neither right nor asked to be tried again. */
  readonly wrong: readonly string[];
}

interface LifeOptions {
  readonly routers: readonly Part[];
  readonly apiKey: string;
  readonly owners: readonly string[];
  /** Callers that post, and callers that search, each one request after the other. */
  readonly callers: number;
  /** Until each caller sends the next one. */
  readonly pauseMs: number;
}

export interface Life {
  readonly seen: Seen;
  /** Resolves when every post that was begun is acknowledged. */
  end(): Promise<Seen>;
}

const REQUEST_LIMIT_MS = 30_000;
const AGAIN_MS = 100;

/** Callers that post to owners and search what they remember, all the time. */
export function startLife(options: LifeOptions): Life {
  const { owners, callers, pauseMs } = options;
  const stopping = new AbortController();
  const said = new Map<string, string[]>();
  const found = new Set<string>();
  const seen = { said, posts: 0, searches: 0, again: 0, empty: [] as string[], wrong: [] as string[] };
  let numbers = 0;
  let routers = 0;

  /** Sends a request until it is answered, to one router after the other. */
  async function sent(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    for (;;) {
      routers += 1;
      const router = options.routers[routers % options.routers.length];
      const answer = await fetch(`${router?.url}${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(REQUEST_LIMIT_MS) },
        headers: { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json', ...headers },
      }).catch(() => null);
      if (answer !== null && answer.status !== 503 && answer.status !== 429) return answer;
      await answer?.body?.cancel();
      seen.again += 1;
      await sleep(AGAIN_MS);
    }
  }

  async function post(user_id: string): Promise<void> {
    numbers += 1;
    const content = `Locker ${numbers} of ${user_id} has the code ${numbers * 7}.`;
    const body = { user_id, messages: [{ role: 'user', content }], mode: 'verbatim' };
    const answer = await sent('/v1/batches', body, { 'idempotency-key': `post-${numbers}` });
    const text = await answer.text();
    // 200: it was accepted before, and whoever was to say so was killed.
    if (!answer.ok) seen.wrong.push(`POST /v1/batches: ${answer.status} ${text}`);
    else said.set(user_id, [...(said.get(user_id) ?? []), content]);
    seen.posts += 1;
  }

  async function search(user_id: string): Promise<void> {
    const answer = await sent('/v1/search', { user_id, query: 'What is the code of the locker?', top_k: 3 });
    const text = await answer.text();
    seen.searches += 1;
    if (answer.status !== 200) return void seen.wrong.push(`POST /v1/search: ${answer.status} ${text}`);
    const isEmpty = (JSON.parse(text) as { results: readonly unknown[] }).results.length === 0;
    if (!isEmpty) found.add(user_id);
    else if (found.has(user_id)) seen.empty.push(user_id);
  }

  const any = (): string => owners[Math.floor(Math.random() * owners.length)] ?? '';
  const caller = async (work: (owner: string) => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await work(any()).catch((error: unknown) => seen.wrong.push(String(error)));
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const all = Array.from({ length: callers }, (_, i) => caller(i % 2 === 0 ? post : search));
  return {
    seen,
    end: async () => {
      stopping.abort();
      await Promise.all(all);
      return seen;
    },
  };
}
