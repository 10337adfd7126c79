import { digestOf } from './digest.ts';
import { type ChatMemoryOptions, ownerOf, type Prompted, type Scope, shortened } from './options.ts';

const WITHIN_MS = 1_000;
/** The share of that time which the server gets to answer; the rest is for the way. */
const SERVER_SHARE = 0.8;
/** The messages that say what the next answer is about. */
const TURNS_READ = 10;
/** The turns whose block is kept until their loop of tools ends. */
const KEPT_MAX = 200;

/** What is known of an owner, as a block for the prompt; empty where nothing is, or where it could not be had in time. */
export function contextsOf(options: ChatMemoryOptions): (scope: Scope, prompted: Prompted) => Promise<string> {
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
  const { slowwave, onError, contextWithinMs = WITHIN_MS } = options;
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
