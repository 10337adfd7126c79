import type { Message, PostBatch, Slowwave } from '@slowwave/sdk';

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

// What is read of ADK's sessions. They are larger; the package itself needs nothing of ADK.

interface Part {
  readonly text?: string | undefined;
  /** What a model only thinks. */
  readonly thought?: boolean | undefined;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: object } | undefined;
  readonly functionResponse?: { readonly name?: string; readonly response?: object } | undefined;
  readonly inlineData?: { readonly mimeType?: string } | undefined;
  readonly fileData?: { readonly mimeType?: string } | undefined;
}

export interface SessionEvent {
  readonly id: string;
  /** `user`, or the name of an agent. */
  readonly author?: string | undefined;
  /** In ms. */
  readonly timestamp: number;
  /** A piece of an answer that comes whole later. */
  readonly partial?: boolean | undefined;
  readonly content?: { readonly parts?: readonly Part[] | undefined } | undefined;
}

export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly events: readonly SessionEvent[];
}

/** ADK's tool that searches a memory service. What it found is remembered already. */
const OWN_TOOL = 'load_memory';

/** What was said in an event of a session, under ids that make it count once. */
function messagesIn(session: Pick<Session, 'id'>, event: SessionEvent): Message[] {
  const parts = event.content?.parts ?? [];
  if (event.partial === true || parts.length === 0) return [];
  const said = event.author === 'user' ? spoken('user', parts) : [...spoken('assistant', parts), ...printed(parts)];
  const timestamp = new Date(event.timestamp).toISOString();
  return said.map((message, index) => ({ ...message, timestamp, id: `${session.id}/${event.id}/${index}` }));
}

function spoken(role: 'user' | 'assistant', parts: readonly Part[]): Message[] {
  const content = parts.map(textOf).filter((text) => text !== '');
  const tool_calls = parts.flatMap(({ functionCall: call }) =>
    call === undefined || call.name === OWN_TOOL
      ? []
      : [{ id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) } }],
  );
  if (content.length === 0 && tool_calls.length === 0) return [];
  return [{ role, content: content.join('\n'), ...(tool_calls.length > 0 && { tool_calls }) }];
}

/** Of images and files, that they were there: what is in them would need a model to look at it. */
function textOf({ text, thought, inlineData, fileData }: Part): string {
  const file = inlineData ?? fileData;
  if (file !== undefined) return `[file: ${file.mimeType ?? 'unknown'}]`;
  return thought === true ? '' : (text ?? '');
}

const printed = (parts: readonly Part[]): Message[] =>
  parts.flatMap(({ functionResponse: answer }) =>
    answer === undefined || answer.name === OWN_TOOL
      ? []
      : [{ role: 'tool', name: answer.name, content: JSON.stringify(answer.response ?? {}) }],
  );
