/** What the writer thread is started with. */
export interface WriterInit {
  readonly path: string;
  /** The id of the ledger, if the file is new. */
  readonly newLedgerId: string;
}

/** The call that asks how much was committed; answered at once, it touches no row. */
export const COMMITTED = 'committed';

export interface Committed {
  /** Transactions that were committed. */
  readonly commits: number;
  /** Calls that were answered by them. */
  readonly calls: number;
}

/** The call that rewrites the file; it runs between two transactions, and answers with a Compaction. */
export const COMPACT = 'compact';

/** The call that stores a batch. */
export const APPEND = 'append';
