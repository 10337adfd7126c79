import type {
  Ledger,
  Log,
  MessagesInIndex,
  RankQuestion,
  Reader,
  Reranker,
  SearchIndex,
  TenantId,
  Tokenizer,
  Tools,
} from '@slowwave/engine';
import { routesWith } from '@slowwave/http';
import type { EmbedQuery } from './query-vectors.ts';

/** What the read routes work with. */
export interface SearchDeps {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly tools: Tools;
  /** Counts what a context may cost. */
  readonly tokenizer: Tokenizer;
  readonly log: Log;
  /** Whether the index has messages, and whether they have vectors: where they have none, none may be asked for. */
  readonly messagesInIndex: MessagesInIndex;
  readonly embedQuery: EmbedQuery;
  /** How vectors are made: what is near means more where a model has learnt it. */
  readonly vectors: RankQuestion['vectors'];
  /** What puts results in order once more, for searches that ask for it; null: none is configured. */
  readonly reranker: Reranker | null;
  /** The chat model, for what is asked to be judged or answered; null: the builtin one, which can do neither. */
  readonly reader: Reader['deps'] | null;
  /** Why the index cannot be fully believed just now, e.g. it was made from another ledger; null when it can. */
  indexState(): Promise<string | null>;
}

export const routesOf = routesWith<SearchDeps, TenantId>();
