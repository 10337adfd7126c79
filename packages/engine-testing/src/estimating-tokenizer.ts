import { estimateTokens, type Tokenizer } from '@slowwave/engine';

/** Counts by the rule of thumb: no tables to load. */
export const estimatingTokenizer: Tokenizer = { name: 'estimate', count: estimateTokens };
