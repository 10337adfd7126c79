import type { Cancellation } from './tools.ts';

export interface RerankQuestion {
  readonly query: string;
  readonly documents: readonly string[];
}

export interface Relevance {
  /** Of a document, by its place in the question. */
  readonly index: number;
  /** The higher the better; comparable only within one answer. */
  readonly score: number;
}

/** Reads a question and each text together, and says how well it answers. Throws EngineError. */
export interface Reranker {
  /** Each document at most once, any order. One that is missing is thought to be beside the point. */
  rerank(question: RerankQuestion, cancel: Cancellation): Promise<readonly Relevance[]>;
}
