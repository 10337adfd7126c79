import { contextsOf } from './context.ts';
import type { ChatMemoryOptions, Exchange, Prompted, Scope } from './options.ts';
import { postsOf } from './post.ts';

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
