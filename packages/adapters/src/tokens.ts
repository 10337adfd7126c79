import { createRequire } from 'node:module';
import type { Tokenizer } from '@slowwave/engine';
import type * as Encoding from 'gpt-tokenizer/encoding/o200k_base';

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
      tokens += countPart(text.slice(from, end));
      from = end;
    }
    return tokens + countPart(text.slice(from));
  },
};

let encoding: typeof Encoding | null = null;

/** Its tables take a third of a second to build: the first text that has to be counted does. */
function countPart(text: string): number {
  encoding ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as typeof Encoding;
  return encoding.countTokens(text, AS_TEXT);
}

/** Without this, a text that spells a special token throws. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Longer than words of any language; what the encoding treats as one piece is letters, or anything but letters and digits. */
const LONG_RUNS = /[\p{L}\p{M}]{64}|[^\p{L}\p{N}]{64}/gu;
