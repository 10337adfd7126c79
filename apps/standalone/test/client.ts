import { expect } from 'vitest';

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of many shapes and assert what they find
  readonly body: any;
}

export async function call(
  method: string,
  url: string,
  given: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { body, headers } = given;
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /^application\/(problem\+)?json\b/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

export const get = (url: string): Promise<Answer> => call('GET', url);
export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  call('POST', url, { body, headers });

/** What a test rests on, and asks about no more: it fails where it was refused, and not where its absence shows. */
export async function done(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.status >= 400) throw new Error(`refused with ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

export const said = (userId: string, ...contents: string[]) => ({
  user_id: userId,
  messages: contents.map((content) => ({ role: 'user', content })),
});

/** The texts of all that a search finds, best first, whether it answers or not. */
export async function found(base: string, userId: string, query: string): Promise<string[]> {
  const answer = await post(`${base}/v1/search`, { user_id: userId, query, cut: 'none' });
  expect(answer.status).toBe(200);
  return answer.body.results.map((hit: { memory: string }) => hit.memory);
}

type Counts = Readonly<
  Record<'accepted' | 'pending' | 'consolidating' | 'consolidated' | 'parked' | 'erased' | 'gap', number>
>;

/** Waits until no batch is under way; answers with the counts. */
export async function quiet(base: string, withinMs = 100_000): Promise<Counts> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const { body } = await get(`${base}/v1/stats`);
    if (body.batches.pending + body.batches.consolidating === 0) return body.batches;
    if (Date.now() > deadline) throw new Error(`still under way: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
