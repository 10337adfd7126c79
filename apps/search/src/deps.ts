import type { Ledger, Log, MessagesInIndex, RankQuestion, SearchIndex, Tokenizer, Tools } from '@slowwave/engine';
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
  /** How its vectors are made; decides how much they count. */
  readonly vectors: RankQuestion['vectors'];
  /** Why the index cannot be fully believed just now, e.g. it was made from another ledger; null when it can. */
  indexState(): Promise<string | null>;
}
