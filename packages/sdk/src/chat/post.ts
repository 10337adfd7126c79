import type { Message } from '../api.ts';
import { digestOf } from './digest.ts';
import { type ChatMemoryOptions, type Exchange, type Scope, shortened } from './options.ts';

const WITHIN_MS = 30_000;

/** Posts exchanges beside the answers: nobody waits for it, and those of one owner arrive in order. */
export function postsOf(options: ChatMemoryOptions): (scope: Scope, exchange: Exchange) => void {
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
  const { slowwave, onError, postWithinMs = WITHIN_MS } = options;
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
