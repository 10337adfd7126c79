/**
 * Counts tokens as a model does. Special tokens inside a text are text like any other, and counting takes time in
 * proportion to the text's length, whatever the text.
 */
export interface Tokenizer {
  /** The encoding it counts in. */
  readonly name: string;
  count(text: string): number;
}
