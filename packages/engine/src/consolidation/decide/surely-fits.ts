/** A token has at least one byte, and what UTF-16 has as one unit has three bytes in UTF-8 at the most. */
const TOKENS_PER_UNIT_MAX = 3;

/** Whether texts fit into so many tokens however they are counted. Counting costs far more than this. */
export function surelyFits(
  texts: readonly string[],
  { tokens, around }: { readonly tokens: number; readonly around: number },
): boolean {
  return texts.reduce((sum, text) => sum + text.length * TOKENS_PER_UNIT_MAX + around, 0) <= tokens;
}
