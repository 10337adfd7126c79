import type { PostBatch, Slowwave } from '@slowwave/sdk';
import { messagesIn, type Session } from './session.ts';

export interface ServiceOptions {
  readonly slowwave: Slowwave;
  /** How many memories a search finds at most (10). */
  readonly topK?: number | undefined;
  /** true: a search finds what the user said in all apps, and not only in the one that asks. */
  readonly acrossApps?: boolean | undefined;
  /** Further fields of POST /v1/batches. */
  readonly post?: Pick<PostBatch, 'metadata' | 'timezone' | 'graph' | 'mode'> | undefined;
}

interface SearchRequest {
  readonly appName: string;
  readonly userId: string;
  readonly query: string;
}

interface FoundEntry {
  content: { role: string; parts: { text: string }[] };
  author: string;
  timestamp: string;
}

const TOP_K = 10;
/** Messages of one post; longer sessions are posted in several. */
const MESSAGES_MAX = 500;
/** Of so many sessions it is known how much of them was posted. */
const SESSIONS_MAX = 1_000;

/** Google ADK's memory service: sessions are consolidated in the background, and searches find what came of them. */
export class SlowwaveMemoryService {
  readonly #options: ServiceOptions;
  /** How many events of a session were posted; what is posted again by another process is not processed twice. */
  readonly #posted = new Map<string, number>();

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Posts what was said since the last call; may be called after each turn, or once at the end. */
  async addSessionToMemory(session: Session): Promise<void> {
    const { slowwave, post } = this.#options;
    const { id, appName, userId, events } = session;
    const key = JSON.stringify([appName, userId, id]);
    const messages = events.slice(this.#posted.get(key) ?? 0).flatMap((event) => messagesIn(session, event));
    for (let from = 0; from < messages.length; from += MESSAGES_MAX) {
      const part = messages.slice(from, from + MESSAGES_MAX);
      await slowwave.batches.post({ ...post, user_id: userId, app_id: appName, run_id: id, messages: part });
    }
    this.#posted.delete(key); // added again as the youngest
    this.#posted.set(key, events.length);
    for (const oldest of this.#posted.keys()) if (this.#posted.size > SESSIONS_MAX) this.#posted.delete(oldest);
  }

  async searchMemory({ appName, userId, query }: SearchRequest): Promise<{ memories: FoundEntry[] }> {
    const { slowwave, topK = TOP_K, acrossApps = false } = this.#options;
    const scope = { user_id: userId, ...(!acrossApps && { app_id: appName }) };
    const { results } = await slowwave.memories.search({ ...scope, query, top_k: topK });
    return {
      memories: results.map(({ memory, trust, valid_from }) => ({
        content: { role: 'user', parts: [{ text: memory }] },
        author: trust === 'agent' ? 'model' : 'user',
        timestamp: valid_from,
      })),
    };
  }
}
