import type { Message, PostBatch, PostContext } from '../api.ts';
import type { Slowwave } from '../client.ts';

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

export const shortened = (messages: readonly Message[]): Message[] =>
  messages.map((message) =>
    message.role === 'tool' && typeof message.content === 'string'
      ? { ...message, content: message.content.slice(0, PRINTED_MAX) }
      : message,
  );
