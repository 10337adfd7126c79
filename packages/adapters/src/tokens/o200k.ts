import type { Tokenizer } from '@slowwave/engine';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/**
 * The tokens of current OpenAI models; near enough to those of others. Runs without a break are cut before they are
 * counted, because the time taken grows with the square of a run: a cut run counts a few tokens more than it has.
 */
export const o200kTokenizer: Tokenizer = {
  name: 'o200k_base',
  count: (text) => {
    let tokens = 0;
    let from = 0;
    for (const run of text.matchAll(LONG_RUNS)) {
      const end = run.index + run[0].length;
      tokens += countTokens(text.slice(from, end), AS_TEXT);
      from = end;
    }
    return tokens + countTokens(text.slice(from), AS_TEXT);
  },
};

/** Without this, a text that spells a special token throws. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Longer than words of any language; what the encoding treats as one piece is letters, or anything but letters and digits. */
const LONG_RUNS = /[\p{L}\p{M}]{64}|[^\p{L}\p{N}]{64}/gu;
