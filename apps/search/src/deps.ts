import type { Ledger, Log, SearchIndex, Tools } from '@slowwave/engine';

/** What the read routes work with. */
export interface SearchDeps {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly tools: Tools;
  readonly log: Log;
  /** The vector of a question. Throws EngineError when the model cannot be used. */
  embedQuery(text: string): Promise<Float32Array>;
  /** Why the index cannot be fully believed just now, e.g. it was made from another ledger; null when it can. */
  indexState(): Promise<string | null>;
}
