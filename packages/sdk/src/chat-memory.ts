import type { Message, PostBatch, PostContext } from './api.ts';
import type { Slowwave } from './client.ts';

/** What a chat's memory does around each call of a model. It never delays an answer for long, and never breaks one. */
export interface ChatMemory {
  /** Before it: what is known, as a block for the prompt; empty where nothing is, or where it could not be had in time. */
  context(scope: Scope, prompted: Prompted): Promise<string>;
  /** After it: posts what is new, beside the answer. */
  post(scope: Scope, exchange: Exchange): void;
}

export function createChatMemory(options: ChatMemoryOptions): ChatMemory {
  if (typeof options.onError !== 'function') {
    throw new TypeError(`expected onError to be a function, which is told of failures, got ${typeof options.onError}`);
  }
  const [context, post] = [contextsOf(options), postsOf(options)];
  return {
    context: async (scope, prompted) => (options.context === false ? '' : context(scope, prompted)),
    post: (scope, exchange) => {
      if (options.post !== false) post(scope, exchange);
    },
  };
}

/** The ids under which a chat is remembered. The first of user, agent and run that is given owns its memories. */
export interface Scope {
  readonly user_id?: string;
  readonly agent_id?: string;
  readonly run_id?: string;
  readonly app_id?: string;
}

/** The same in the spelling of programs. */
export interface Whose {
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  /** The conversation. */
  readonly runId?: string | undefined;
  readonly appId?: string | undefined;
}

export function scopeOf({ userId, agentId, runId, appId }: Whose): Scope {
  return {
    ...(userId !== undefined && { user_id: userId }),
    ...(agentId !== undefined && { agent_id: agentId }),
    ...(runId !== undefined && { run_id: runId }),
    ...(appId !== undefined && { app_id: appId }),
  };
}

/** The owner alone: what it said in all conversations, to every agent. */
export function ownerOf({ user_id, agent_id, run_id }: Scope): Scope {
  if (user_id !== undefined) return { user_id };
  if (agent_id !== undefined) return { agent_id };
  if (run_id !== undefined) return { run_id };
  throw new TypeError('expected the id of a user, agent or run, to know whose memory it is, got none of them');
}

export interface ChatMemoryOptions {
  readonly slowwave: Slowwave;
  /** Failures come here alone: an answer is never broken by its memory. Throw what a context failed with to fail the call. */
  readonly onError: (error: unknown, during: 'context' | 'post') => void;
  /** Further fields of POST /v1/context; false: nothing is added to prompts. */
  readonly context?: false | Omit<PostContext, keyof Scope | 'messages' | 'format' | 'timeout_ms'> | undefined;
  /** Further fields of POST /v1/batches; false: nothing is posted. */
  readonly post?: false | Omit<PostBatch, keyof Scope | 'messages' | 'idempotency_key'> | undefined;
  /** How long an answer waits for its context at most, in ms (1,000). */
  readonly contextWithinMs?: number | undefined;
  /** How long a post is tried, in ms (30,000). No answer waits for it. */
  readonly postWithinMs?: number | undefined;
  /** Keeps a serverless function alive for a post, like waitUntil of @vercel/functions. */
  readonly waitUntil?: ((posted: Promise<void>) => void) | undefined;
}

/** The prompt that a model is about to answer. */
export interface Prompted {
  readonly messages: readonly Message[];
  /** Those up to the user's last words. */
  readonly upToLastSaid: readonly Message[];
  /** Whether it only goes on with a loop of tools, after the same words of the user. */
  readonly isContinued: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Exchange {
  /** What was posted by former calls. */
  readonly before: readonly Message[];
  /** What was said since. */
  readonly added: readonly Message[];
  readonly answer: readonly Message[];
}

/** More of what a tool printed says little, and a message beyond the limit of the API would fail its whole exchange. */
const PRINTED_MAX = 100_000;

const shortened = (messages: readonly Message[]): Message[] =>
  messages.map((message) =>
    message.role === 'tool' && typeof message.content === 'string'
      ? { ...message, content: message.content.slice(0, PRINTED_MAX) }
      : message,
  );

const CONTEXT_WITHIN_MS = 1_000;
/** The share of that time which the server gets to answer; the rest is for the way. */
const SERVER_SHARE = 0.8;
/** The messages that say what the next answer is about. */
const TURNS_READ = 10;
/** The turns whose block is kept until their loop of tools ends. */
const KEPT_MAX = 200;

/** What is known of an owner, as a block for the prompt; empty where nothing is, or where it could not be had in time. */
function contextsOf(options: ChatMemoryOptions): (scope: Scope, prompted: Prompted) => Promise<string> {
  const kept = new Map<string, string>();
  return async (scope, prompted) => {
    const owner = ownerOf(scope);
    const turn = await digestOf([owner, prompted.upToLastSaid]);
    const before = prompted.isContinued ? kept.get(turn) : undefined;
    const block = before ?? (await fetched(options, owner, prompted));
    kept.delete(turn); // added again as the youngest
    kept.set(turn, block);
    for (const oldest of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(oldest);
    return block;
  };
}

async function fetched(options: ChatMemoryOptions, owner: Scope, { messages, signal }: Prompted): Promise<string> {
  const { slowwave, onError, contextWithinMs = CONTEXT_WITHIN_MS } = options;
  const turns = shortened(messages.slice(-TURNS_READ));
  const body = {
    ...(options.context === false ? {} : options.context),
    ...owner,
    ...(turns.length > 0 && { messages: turns }),
    timeout_ms: Math.max(1, Math.floor(contextWithinMs * SERVER_SHARE)),
  };
  try {
    const { text } = await slowwave.memories.context(body, { signal, timeoutMs: contextWithinMs, retries: 0 });
    return text ?? '';
  } catch (error) {
    if (signal?.aborted !== true) onError(error, 'context');
    return '';
  }
}

const POST_WITHIN_MS = 30_000;

/** Posts exchanges beside the answers: nobody waits for it, and those of one owner arrive in order. */
function postsOf(options: ChatMemoryOptions): (scope: Scope, exchange: Exchange) => void {
  const last = new Map<string, Promise<void>>();
  return (scope, exchange) => {
    const owner = JSON.stringify(scope);
    const posted = (last.get(owner) ?? Promise.resolve())
      .then(() => post(options, scope, exchange))
      .catch(() => undefined) // onError itself has thrown
      .finally(() => {
        if (last.get(owner) === posted) last.delete(owner);
      });
    last.set(owner, posted);
    options.waitUntil?.(posted);
  };
}

async function post(options: ChatMemoryOptions, scope: Scope, exchange: Exchange): Promise<void> {
  const { slowwave, onError, postWithinMs = POST_WITHIN_MS } = options;
  try {
    const messages = await withIds(scope, exchange);
    if (messages.length === 0) return;
    const body = { ...(options.post === false ? {} : options.post), ...scope, messages };
    // The client gives each post a key of its own, so that its retries count once.
    await slowwave.batches.post(body, { signal: AbortSignal.timeout(postWithinMs) });
  } catch (error) {
    onError(error, 'post');
  }
}

/**
 * In the middle of a conversation that is named, a message is known by all that was said before it: an answer that is
 * made again does not make its question said twice. Elsewhere the same words may be said anew, and count anew.
 */
async function withIds(scope: Scope, { before, added, answer }: Exchange): Promise<Message[]> {
  const messages = shortened([...added, ...answer]);
  if (scope.run_id === undefined || before.length === 0) return messages;
  return Promise.all(
    messages.map(async (message, index) => ({
      ...message,
      id: await digestOf([scope, ...before, ...messages.slice(0, index + 1)]),
    })),
  );
}

/** Says whether two values are the same, in 32 characters. */
async function digestOf(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)));
  return Array.from(new Uint8Array(bytes, 0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
