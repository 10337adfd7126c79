import { type Observer, openReranker, openVectorCache } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { hurriedEmbedder } from '@slowwave/adapters/limits';
import { countQueryVectors } from '@slowwave/adapters/metrics';
import type { ChatModel, Embedder, Ledger, Log, SearchIndex, Tokenizer, Tools } from '@slowwave/engine';
import type { SearchDeps } from './deps.ts';
import { indexState } from './index-state.ts';
import { queryVectors } from './query-vectors.ts';

interface Parts {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly embedder: Embedder;
  readonly tokenizer: Tokenizer;
  readonly chat: ChatModel;
  readonly tools: Tools;
  readonly log: Log;
  readonly observer: Pick<Observer, 'registry' | 'meter'>;
}

export interface OpenSearch {
  readonly deps: SearchDeps;
  /** What is closed after everything that uses it. */
  readonly parts: readonly { close(): Promise<unknown> }[];
}

/** What the read routes work with, over open stores. */
export function openSearch(config: Config, { observer, embedder, chat, ...parts }: Parts): OpenSearch {
  const shared = openVectorCache(config, parts.log);
  const count = countQueryVectors(observer.registry);
  const deps: SearchDeps = {
    ledger: parts.ledger,
    index: parts.index,
    tools: parts.tools,
    tokenizer: parts.tokenizer,
    log: parts.log,
    reranker: openReranker(config, observer),
    // The builtin model is one of rules: there is nothing in it that could judge or answer.
    reader:
      config.chatModel === null
        ? null
        : { ...parts, chat, meter: observer.meter, settings: { ceilings: config.ceilings } },
    embedQuery: queryVectors({ embedder: hurriedEmbedder(embedder), shared, tools: parts.tools, count }),
    vectors: config.embeddingModel === null ? 'hashed' : 'learnt',
    messagesInIndex: config.messagesInIndex,
    indexState: indexState({ ...parts, embedder, messagesInIndex: config.messagesInIndex }),
  };
  return { deps, parts: shared === null ? [] : [shared] };
}
