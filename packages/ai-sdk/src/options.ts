import type { PostBatch, PostContext, Slowwave } from '@slowwave/sdk';

/** Whose memory it is: the first of user, agent and run that is given owns it. */
export interface Whose {
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  /** The conversation. */
  readonly runId?: string | undefined;
  readonly appId?: string | undefined;
}

type Ids = 'user_id' | 'agent_id' | 'run_id' | 'app_id';

export interface MiddlewareOptions extends Whose {
  readonly slowwave: Slowwave;
  /** Failures come here alone: an answer is never broken by its memory. Throw what a context failed with to fail the call. */
  readonly onError: (error: unknown, during: 'context' | 'post') => void;
  /** Further fields of POST /v1/context; false: nothing is added to prompts. */
  readonly context?: false | Omit<PostContext, Ids | 'messages' | 'format' | 'timeout_ms'> | undefined;
  /** Further fields of POST /v1/batches; false: nothing is posted. */
  readonly post?: false | Omit<PostBatch, Ids | 'messages' | 'idempotency_key'> | undefined;
  /** How long an answer waits for its context at most, in ms (1,000). */
  readonly contextWithinMs?: number | undefined;
  /** How long a post is tried, in ms (30,000). No answer waits for it. */
  readonly postWithinMs?: number | undefined;
  /** Keeps a serverless function alive for a post, like waitUntil of @vercel/functions. */
  readonly waitUntil?: ((posted: Promise<void>) => void) | undefined;
}

/** The ids that a request names. */
export type Scope = Partial<Record<Ids, string>>;

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
  throw new TypeError('expected userId, agentId or runId, to know whose memory it is, got none of them');
}

/** What one call of a model is to be remembered under, and whether. */
export interface CallSettings extends Whose {
  readonly context?: false | undefined;
  readonly post?: false | undefined;
}

const IDS: readonly string[] = ['userId', 'agentId', 'runId', 'appId'] satisfies (keyof Whose)[];
const OFF: readonly string[] = ['context', 'post'];

/** `providerOptions.slowwave` of a call. Throws a TypeError for what it cannot mean. */
export function callSettingsIn(given: Readonly<Record<string, unknown>>): CallSettings {
  for (const [name, value] of Object.entries(given)) {
    const isId = IDS.includes(name) && (value === undefined || typeof value === 'string');
    const isOff = OFF.includes(name) && (value === undefined || value === false);
    if (!(isId || isOff)) {
      const expected = 'userId, agentId, runId or appId as a text, or context or post as false';
      throw new TypeError(`providerOptions.slowwave: expected ${expected}, got ${name}: ${JSON.stringify(value)}`);
    }
  }
  return given;
}
