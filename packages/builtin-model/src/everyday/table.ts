/** One message, said on Wednesday 4 March 2026: what must be remembered of it, and what else may be. Anything else is wrong. */
export type SentenceRow = readonly [said: string, must: readonly string[], may?: readonly string[]];

/** Posts of one user, a day apart from Wednesday 4 March 2026: what must hold at their end, and what must not. */
export interface SequenceRow {
  readonly posts: readonly string[];
  readonly holds: readonly string[];
  readonly not: readonly string[];
}
