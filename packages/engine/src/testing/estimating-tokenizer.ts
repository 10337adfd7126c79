import type { Tokenizer } from '../ports/tokenizer.ts';
import { estimateTokens } from '../text/tokens.ts';

/** Counts by the rule of thumb: no tables to load. */
export const estimatingTokenizer: Tokenizer = { name: 'estimate', count: estimateTokens };
