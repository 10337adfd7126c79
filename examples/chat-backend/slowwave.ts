import type { Turn } from './model.ts';

/** The two requests a chat backend makes for each turn. */
export interface Slowwave {
  /** Before the answer: what is known, ready to be put before the turns of the chat. */
  context(body: object): Promise<readonly Turn[]>;
  /** After the answer: acknowledged within milliseconds, consolidated later. */
  remember(body: object): Promise<void>;
}

export function slowwaveAt(url: string, key: string): Slowwave {
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> => {
    const auth = key === '' ? {} : { authorization: `Bearer ${key}` };
    return fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...auth, ...headers },
      body: JSON.stringify(body),
    });
  };
  return {
    // A chat goes on without its memory rather than not at all.
    context: async (body) => {
      const response = await post('/v1/context', body);
      if (!response.ok) return [];
      return ((await response.json()) as { messages: readonly Turn[] }).messages;
    },
    // With a key of its own a post can be sent again after a timeout, and counts once.
    remember: async (body) => {
      const response = await post('/v1/batches', body, { 'idempotency-key': crypto.randomUUID() });
      if (!response.ok) throw new Error(`the exchange was not stored, ${response.status}: ${await response.text()}`);
    },
  };
}
