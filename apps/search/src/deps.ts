import type { Ledger, Log, SearchIndex, Tokenizer, Tools } from '@slowwave/engine';
import type { EmbedQuery } from './query-vectors.ts';

/** What the read routes work with. */
export interface SearchDeps {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly tools: Tools;
  /** Counts what a context may cost. */
  readonly tokenizer: Tokenizer;
  readonly log: Log;
  readonly embedQuery: EmbedQuery;
  /** Why the index cannot be fully believed just now, e.g. it was made from another ledger; null when it can. */
  indexState(): Promise<string | null>;
}
