import { digestOf } from './digest.ts';
import { isContinued, messagesOf, type Prompt, upToLastSaid } from './messages.ts';
import type { MiddlewareOptions, Scope } from './options.ts';

const WITHIN_MS = 1_000;
/** The share of that time which the server gets to answer; the rest is for the way. */
const SERVER_SHARE = 0.8;
/** The messages that say what the next answer is about. */
const TURNS_READ = 10;
/** The turns whose block is kept until their loop of tools ends. */
const KEPT_MAX = 200;

interface Asked {
  readonly prompt: Prompt;
  readonly signal: AbortSignal | undefined;
}

/** What is known of an owner, as a block for the prompt; empty where nothing is, or where it could not be had in time. */
export function contextOf(options: MiddlewareOptions): (owner: Scope, asked: Asked) => Promise<string> {
  const kept = new Map<string, string>();
  return async (owner, { prompt, signal }) => {
    const turn = await digestOf([owner, messagesOf(upToLastSaid(prompt))]);
    const before = isContinued(prompt) ? kept.get(turn) : undefined;
    const block = before ?? (await fetched(options, owner, { prompt, signal }));
    kept.delete(turn); // added again as the youngest
    kept.set(turn, block);
    for (const oldest of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(oldest);
    return block;
  };
}

async function fetched(options: MiddlewareOptions, owner: Scope, { prompt, signal }: Asked): Promise<string> {
  const { slowwave, onError, contextWithinMs = WITHIN_MS } = options;
  const turns = messagesOf(prompt).slice(-TURNS_READ);
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
