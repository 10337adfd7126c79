import type {
  Ledger,
  Log,
  MessagesInIndex,
  Meter,
  NewReceipt,
  RankQuestion,
  Reader,
  Reranker,
  SearchIndex,
  TenantId,
  Tokenizer,
  Tools,
} from '@slowwave/engine';
import { routesWith } from '@slowwave/http';
import type { EmbedQuery, Rewrite } from './question.ts';

/** What the read routes work with. */
export interface SearchDeps {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly tools: Tools;
  /** Counts the tokens of a context. */
  readonly tokenizer: Tokenizer;
  readonly log: Log;
  readonly meter: Pick<Meter, 'opinions'>;
  /** Whether the index has messages, and whether they have vectors. */
  readonly messagesInIndex: MessagesInIndex;
  readonly embedQuery: EmbedQuery;
  /** How vectors are made: those of a model have more meaning than hashed ones. */
  readonly vectors: RankQuestion['vectors'];
  /** Reranks results of searches that request it; null: none is configured. */
  readonly reranker: Reranker | null;
  /** The chat model, to rerank and to answer questions; null: the builtin one, which can do neither. */
  readonly reader: Reader['deps'] | null;
  /** Rewrites questions that lean on a conversation, by the chat model; null: the builtin one, which cannot. */
  readonly rewrite: Rewrite | null;
  /** Notes what an answer told, and returns the id of its receipt; null: none is kept. null instead of it: of no answer. */
  readonly noteReceipt: ((answered: Omit<NewReceipt, 'id' | 'at'>) => string | null) | null;
  /** Whether it may be noted once more what a conversation was told: within a rate, so that no flood of them holds up the ledger. */
  mayTell(): boolean;
  /** Why the index cannot be trusted now, e.g. it belongs to another ledger; null: it can. */
  indexState(): Promise<string | null>;
}

export const routesOf = routesWith<SearchDeps, TenantId>();
